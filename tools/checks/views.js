// Public functions that return a view say how long it lives.
/** @import { Problem, Tree } from './tree.js' */

const words = String.raw`(?:\[\[\w+\]\]\s*|(?:virtual|static|inline|friend|constexpr|const)\s+)*`;
const view = String.raw`(?:std::optional<)?std::(?:string_view|span\s*<.*>)>?`;
const viewFunction = new RegExp(String.raw`^\s*${words}${view}\s+(\w+)\s*\(`);

/** @param {string[]} lines @param {number} index */
function commentAbove(lines, index) {
  const comment = [];
  for (let at = index - 1; at >= 0 && /^\s*\/\//.test(lines[at]); at -= 1)
    comment.unshift(lines[at]);
  return comment.join(' ');
}

/** @param {Tree} tree @returns {Problem[]} */
export function checkViews(tree) {
  /** @type {Problem[]} */
  const problems = [];
  for (const file of tree.files) {
    if (!/^include\/millrace\/.*\.h$/.test(file)) continue;
    const lines = tree.read(file).split('\n');
    lines.forEach((line, index) => {
      const name = viewFunction.exec(line)?.[1];
      if (
        !name ||
        /\bvalid\s+(until|while|as long as|for ever)\b/i.test(commentAbove(lines, index))
      ) {
        return;
      }
      const message = `${name}() returns a view: say above it "Valid until ..."`;
      problems.push({ file, line: index + 1, rule: 'views', message });
    });
  }
  return problems;
}
