// The comment rule for JavaScript, as a rule of eslint, which knows where comments are.
import { faultOfComment } from './comments.js';

/** @type {import('eslint').Rule.RuleModule} */
export const commentsRule = {
  meta: { type: 'suggestion', schema: [] },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (comment.type !== 'Line' && comment.type !== 'Block') continue;
          comment.value.split('\n').forEach((text, index) => {
            const message = faultOfComment(text.replace(/^\s*\*/, ''));
            const line = (comment.loc?.start.line ?? 1) + index;
            if (message) context.report({ loc: { line, column: 0 }, message });
          });
        }
      },
    };
  },
};
