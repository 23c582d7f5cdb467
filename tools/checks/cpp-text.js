// C++ source as text: comments and literals told apart from code.

/** @typedef {{ line: number, text: string, alone: boolean }} Comment */

const token = new RegExp(
  [
    /\/\/[^\n]*/,
    /\/\*[\s\S]*?\*\//,
    /\bR"([^()\\\s]{0,16})\([\s\S]*?\)\1"/, // raw string
    /"(?:\\.|[^"\\\n])*"/,
    /(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'/, // not the ' in 10'000
  ]
    .map((shape) => shape.source)
    .join('|'),
  'g',
);

/** @param {string} text */
const blank = (text) => text.replace(/[^\n]/g, ' ');

/**
 * The code with each comment and the inside of each literal made blank; lines and columns stay.
 * @param {string} source
 */
export function codeOf(source) {
  return source.replace(token, (found) => {
    if (found.startsWith('/')) return blank(found);
    const open = found.indexOf('"') >= 0 && found[0] !== "'" ? found.indexOf('"') : 0;
    return found.slice(0, open + 1) + blank(found.slice(open + 1, -1)) + found.slice(-1);
  });
}

/**
 * Line comments, one for each line, without the slashes; block comments likewise. `alone` says that
 * nothing but the comment stands on the line.
 * @param {string} source
 * @returns {Comment[]}
 */
export function commentsOf(source) {
  /** @type {Comment[]} */
  const comments = [];
  let line = 1;
  let last = 0;
  for (const match of source.matchAll(token)) {
    line += source.slice(last, match.index).split('\n').length - 1;
    last = match.index;
    if (!match[0].startsWith('/')) continue;
    const lineStart = source.lastIndexOf('\n', match.index) + 1;
    const alone = source.slice(lineStart, match.index).trim() === '';
    const lines = match[0].startsWith('//')
      ? [match[0].slice(2)]
      : match[0]
          .slice(2, -2)
          .split('\n')
          .map((text) => text.replace(/^\s*\*?/, ''));
    lines.forEach((text, index) => comments.push({ line: line + index, text, alone }));
  }
  return comments;
}

/**
 * Bodies of functions, lambdas and macros such as TEST(): the outermost block that is not a
 * namespace, a type or an initialiser.
 * @param {string} source
 * @returns {{ line: number, lines: number, header: string }[]}
 */
export function functionsOf(source) {
  const code = codeOf(source).replace(/^[ \t]*#(?:[^\n\\]|\\[^\n]|\\\n)*/gm, blank);
  const functions = [];
  /** @type {{ header: string, start: number, kind: string }[]} */
  const open = [];
  let line = 1;
  let headerStart = 0;
  for (let at = 0; at < code.length; at += 1) {
    const char = code[at];
    if (char === '\n') line += 1;
    if (char === '{') {
      const header = code.slice(headerStart, at);
      const start = line - (header.trimStart().split('\n').length - 1);
      const inside = open.some((block) => block.kind === 'function');
      open.push({ header: header.trim(), start, kind: inside ? 'inner' : kindOf(header) });
    } else if (char === '}') {
      const block = open.pop();
      if (block?.kind === 'function') {
        functions.push({ line: block.start, lines: line - block.start + 1, header: block.header });
      }
    }
    if (char === '{' || char === '}' || char === ';') headerStart = at + 1;
  }
  return functions;
}

/** @param {string} header what stands between the last ';', '{' or '}' and a '{' */
function kindOf(header) {
  const text = header.trim();
  if (/\b(namespace|extern)\b/.test(text)) return 'scope';
  if (
    /\b(class|struct|union|enum)\b/.test(text) &&
    !/\)\s*(const|noexcept|override|\s)*$/.test(text)
  ) {
    return 'scope';
  }
  // A member initialiser or an object: `a_{1}`, `x = {`, `return {`, `, {`.
  if (!/\)|\]/.test(text) && text !== '') return 'scope';
  return /[=,(]$/.test(text) ? 'scope' : 'function';
}
