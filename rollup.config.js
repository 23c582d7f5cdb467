// The package as it is shipped, in dist/: one CommonJS file for each entry and one for what the
// entries share, so that a program pays for one load and not for one of every file of js/; and an
// ES module for each that passes its names on. docs/decisions/0009-one-file-per-entry.md has the
// measurements.

const entries = { uws: 'js/uws.js' };

const wrapper = (name, exports) => {
  const named = exports.filter((one) => one !== 'default');
  return [
    "import { createRequire } from 'node:module';",
    '',
    `const entry = createRequire(import.meta.url)('../cjs/${name}.cjs');`,
    '',
    `export const { ${named.join(', ')} } = entry;`,
    exports.includes('default') ? 'export default entry.default;\n' : '',
  ].join('\n');
};

const passOnNames = {
  name: 'pass-on-names',
  generateBundle(options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (!chunk.isEntry) continue;
      this.emitFile({
        type: 'asset',
        fileName: `esm/${chunk.name}.js`,
        source: wrapper(chunk.name, chunk.exports),
      });
    }
  },
};

export default {
  input: entries,
  external: /^node:/,
  output: {
    dir: 'dist',
    format: 'cjs',
    exports: 'named',
    generatedCode: { constBindings: true },
    interop: 'default',
    strict: true,
    entryFileNames: 'cjs/[name].cjs',
    chunkFileNames: 'cjs/[name].cjs',
  },
  plugins: [
    {
      name: 'file-url',
      resolveImportMeta: (property) =>
        property === 'url' ? "require('node:url').pathToFileURL(__filename).href" : null,
    },
    passOnNames,
  ],
};
