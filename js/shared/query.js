// Query strings: 'a=1&b=x+y'. A pair without '=' has an empty value; names and values are decoded
// ('+' is a space, %XX are bytes of UTF-8); the first of several pairs with the same name counts.

/** @param {string} text */
function decode(text) {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return decodeLeniently(spaced);
  }
}

/** Decodes what can be decoded; a '%' without two hexadecimal digits stands for itself. */
function decodeLeniently(text) {
  const bytes = [];
  for (const part of text.split(/(%[0-9A-Fa-f]{2})/)) {
    if (/^%[0-9A-Fa-f]{2}$/.test(part)) bytes.push(Buffer.of(Number.parseInt(part.slice(1), 16)));
    else bytes.push(Buffer.from(part));
  }
  return Buffer.concat(bytes).toString();
}

/**
 * @param {string} query without '?'
 * @param {string} key decoded
 * @returns {string | undefined}
 */
export function queryValue(query, key) {
  if (key === '') return undefined;
  let start = 0;
  while (start <= query.length) {
    let end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    const equals = query.indexOf('=', start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = query.slice(start, nameEnd);
    if (name === key || decode(name) === key) {
      return nameEnd === end ? '' : decode(query.slice(nameEnd + 1, end));
    }
    start = end + 1;
  }
  return undefined;
}
