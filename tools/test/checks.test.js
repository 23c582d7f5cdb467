// The rules of tools/checks, each with text that must pass and text that must not.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkComments, faultOfComment } from '../checks/comments.js';
import { codeOf, commentsOf, functionsOf } from '../checks/cpp-text.js';
import { checkDeadFiles } from '../checks/dead-files.js';
import { checkDocuments } from '../checks/documents.js';
import { applyExceptions } from '../checks/exceptions.js';
import { checkLayers, roomOf } from '../checks/layers.js';
import { checkSizes } from '../checks/sizes.js';
import { memoryTree } from '../checks/tree.js';
import { checkViews } from '../checks/views.js';

/** @import { Problem } from '../checks/tree.js' */

/** @param {Problem[]} problems */
const places = (problems) => problems.map(({ file, line }) => `${file}:${line}`);

test('code is what is left without comments and literals', () => {
  const source = [
    `int a = 10'000; // "x"`,
    'auto b = "// {"; /* {',
    `{ */ auto c = R"(a "{" b)"; char d = '{';`,
  ].join('\n');
  const code = codeOf(source);
  assert.equal(code.length, source.length);
  assert.equal(code.split('\n').length, 3);
  assert.ok(!code.includes('{'));
  assert.ok(code.includes(`int a = 10'000;`));
  assert.ok(code.includes('auto c'));
  assert.deepEqual(
    commentsOf(source).map(({ line, text, alone }) => [line, text.trim(), alone]),
    [
      [1, '"x"', false],
      [2, '{', false],
      [3, '{', false],
    ],
  );
});

test('functions are found, with their lines; types, scopes and initialisers are not', () => {
  const source = [
    'namespace a {',
    'struct S {',
    '  S() : x_{1}, y_{2} {',
    '    x_ = 3;',
    '  }',
    '  int x_{0};',
    '};',
    'constexpr int table[] = {',
    '  1, 2,',
    '};',
    'int f(int a)',
    '{',
    '  if (a) {',
    '    return 1;',
    '  }',
    '  auto g = [&] { return 2; };',
    '  return g();',
    '}',
    '}',
  ].join('\n');
  const found = functionsOf(source).map(({ line, lines }) => [line, lines]);
  assert.ok(found.some(([line, lines]) => line === 11 && lines === 8));
  assert.equal(Math.max(...found.map(([, lines]) => lines)), 8);
});

test('a function of 70 lines passes, one of 71 does not', () => {
  /** @param {number} lines */
  const body = (lines) => `void f() {\n${'  x();\n'.repeat(lines - 2)}}\n`;
  assert.deepEqual(checkSizes(memoryTree({ 'core/a.cc': body(70) })), []);
  const [problem] = checkSizes(memoryTree({ 'core/a.cc': `\n\n${body(71)}` }));
  assert.equal(problem.rule, 'function-length');
  assert.equal(problem.line, 3);
});

test('a constructor with member initialisers counts as a function', () => {
  const source = `A::A() : b_{1}, c_{2} {\n${'  x();\n'.repeat(70)}}\n`;
  assert.equal(checkSizes(memoryTree({ 'core/a.cc': source })).length, 1);
});

test('100 columns and 500 lines pass, one more does not', () => {
  const good = `${'x'.repeat(100)}\n`;
  assert.deepEqual(checkSizes(memoryTree({ 'js/a.js': good, 'core/a.h': '\n'.repeat(500) })), []);
  const bad = memoryTree({ 'js/a.js': `\n${'x'.repeat(101)}\n`, 'core/a.h': '\n'.repeat(501) });
  assert.deepEqual(
    checkSizes(bad).map(({ file, line, rule }) => [file, line, rule]),
    [
      ['core/a.h', 501, 'file-length'],
      ['js/a.js', 2, 'columns'],
    ],
  );
});

test('columns are characters, and prose has 120 of them', () => {
  assert.deepEqual(checkSizes(memoryTree({ 'core/a.h': 'é'.repeat(100) })), []);
  assert.deepEqual(checkSizes(memoryTree({ 'a.md': 'x'.repeat(120) })), []);
  assert.deepEqual(checkSizes(memoryTree({ 'a.md': `| ${'x'.repeat(200)} |` })), []);
  assert.equal(checkSizes(memoryTree({ 'a.md': 'x'.repeat(121) })).length, 1);
});

for (const comment of [
  ' TODO: later',
  ' TODO(someone): later',
  ' FIXME(perf): later',
  ' XXX',
  ' return size;',
  ' buffer.clear();',
  ' const int size = read(fd);',
  ' if (size > 3) {',
  ' }',
  ' } else {',
  ' #include <vector>',
  ' size += 2;',
  ' socket->shutdown();',
]) {
  test(`refused comment:${comment}`, () => assert.notEqual(faultOfComment(comment), ''));
}

for (const comment of [
  ' TODO(perf): two passes over the bytes',
  ' Read on after queueing the 413: closing a socket with unread bytes sends RST.',
  ' RFC 9112 section 6.3, rule by rule (see there);',
  '     loop.run();',
  ' Returns the port; 0 if none is open.',
  ' If the peer is gone (it may be), nothing happens.',
  ' Valid until the handler returns.',
]) {
  test(`accepted comment:${comment}`, () => assert.equal(faultOfComment(comment), ''));
}

test('comments are looked at in C++, shell and CMake, strings are not', () => {
  const tree = memoryTree({
    'core/a.cc': 'auto text = "// TODO: no";\n// TODO: yes\n',
    'tools/setup/a.sh': 'echo "# TODO: no"\n# TODO: yes\n',
    'cmake/a.cmake': '\n\n# TODO: yes\n',
  });
  assert.deepEqual(places(checkComments(tree)), [
    'cmake/a.cmake:3',
    'core/a.cc:2',
    'tools/setup/a.sh:2',
  ]);
});

test('the longest entry of the layer table holds a file', () => {
  assert.equal(roomOf('bench/micro/a.cc')?.room, 'bench/micro');
  assert.equal(roomOf('bench/harness/a.cc')?.room, 'bench');
  assert.equal(roomOf('js/uws.js')?.room, 'js/uws.js');
  assert.equal(roomOf('elsewhere/a.cc'), undefined);
});

const layerCases = [
  ['core/http/a.cc', '#include "core/base/b.h"', true],
  ['bench/load/a.cc', '#include "core/net/io_ring.h"', true],
  ['bench/load/a.cc', '#include "core/net/b.h"', false],
  ['core/http/a.cc', '#include "core/http/b.h"', true],
  ['core/http/a.cc', '#include "millrace/b.h"', true],
  ['core/http/a.cc', '#include "core/net/b.h"', false],
  ['core/http/a.cc', '#include "core/testing/b.h"', false],
  ['core/http/a_test.cc', '#include "core/testing/b.h"', true],
  ['core/http/a.cc', '#include <sys/epoll.h>', false],
  ['core/net/a.cc', '#include <sys/epoll.h>', true],
  ['core/http/a.cc', '  #  include <node_api.h>', false],
  ['node/a.cc', '#include <node_api.h>', true],
  ['node/a.cc', '#include "core/base/b.h"', false],
  ['core/base/a.h', '#include "core/http/b.h"', false],
  ['include/millrace/a.h', '#include "core/base/b.h"', false],
  ['core/server/a.cc', '#include "core/http/b.h"', true],
  ['core/base/a.cc', '#include <gtest/gtest.h>', false],
  ['core/base/a_test.cc', '#include <gtest/gtest.h>', true],
  ['core/base/a.cc', '#include "b.h"', false],
  ['js/uws.js', "import { a } from './native/b.js';", true],
  ['js/native/a.js', "import { a } from '../uws.js';", false],
  ['js/native/a.js', "import fs from 'node:fs';", true],
  ['js/native/a.js', "import fs from 'fs';", false],
  ['js/native/a.js', "import x from 'left-pad';", false],
  ['js/native/a.js', "const x = require('left-pad');", false],
  ['js/native/a.js', "const x = await import('left-pad');", false],
  ['js/native/a.js', "import {\n  a,\n} from 'left-pad';", false],
  ['demo/a.js', "import uWS from 'millrace';", true],
  ['demo/a.js', "import uWS from '../js/uws.js';", false],
];
for (const [file, text, good] of /** @type {[string, string, boolean][]} */ (layerCases)) {
  test(`layers: ${file} ${good ? 'may' : 'must not'} ${text}`, () => {
    const known = {
      'core/base/b.h': '',
      'core/http/b.h': '',
      'core/net/b.h': '',
      'core/net/io_ring.h': '',
      'core/testing/b.h': '',
      'include/millrace/b.h': '',
      'js/native/b.js': '',
      'core/base/CMakeLists.txt': '',
    };
    const beside = text.includes('"b.h"') ? { 'core/base/b.h': '' } : {};
    const problems = checkLayers(memoryTree({ ...known, ...beside, [file]: `\n${text}\n` }));
    assert.equal(problems.length, good ? 0 : 1, JSON.stringify(problems));
    if (!good) assert.equal(problems[0].file, file);
  });
}

test('a C++ file in no room is a problem', () => {
  const tree = memoryTree({ 'attic/a.cc': '#include "core/base/b.h"\n', 'core/base/b.h': '' });
  assert.deepEqual(places(checkLayers(tree)), ['attic/a.cc:1']);
});

test('dead files: what nothing builds, includes or reaches', () => {
  const tree = memoryTree({
    'package.json': '{ "exports": "./js/uws.js" }',
    'js/uws.js': "import './native/used.js';",
    'js/native/used.js': '',
    'js/native/dead.js': '',
    'core/http/CMakeLists.txt': 'millrace_room(http)',
    'core/http/a.cc': '#include "core/http/a.h"',
    'core/http/a.h': '',
    'core/http/dead.h': '#include "core/http/dead.h"',
    'bench/CMakeLists.txt': 'add_executable(x used.cc)',
    'bench/used.cc': '',
    'bench/dead.cc': '',
    'include/millrace/millrace.h': '',
  });
  assert.deepEqual(places(checkDeadFiles(tree)), [
    'bench/dead.cc:1',
    'core/http/dead.h:1',
    'js/native/dead.js:1',
  ]);
});

test('a public view without "Valid until" is a problem', () => {
  const header = (/** @type {string} */ comment) =>
    `class A {\n    ${comment}\n    std::string_view name() const;\n};\n`;
  const good = header('// Valid until the handler returns.');
  const bad = header('// The name.');
  assert.deepEqual(checkViews(memoryTree({ 'include/millrace/a.h': good })), []);
  assert.deepEqual(places(checkViews(memoryTree({ 'include/millrace/a.h': bad }))), [
    'include/millrace/a.h:3',
  ]);
  assert.deepEqual(checkViews(memoryTree({ 'core/http/a.h': bad })), []);
});

test('views inside optional, and spans, count as views', () => {
  const text =
    'std::optional<std::string_view> a(int x) const;\n' +
    '[[nodiscard]] static std::span<const Field> b();\n' +
    'void c(std::string_view d);\n';
  assert.deepEqual(places(checkViews(memoryTree({ 'include/millrace/a.h': text }))), [
    'include/millrace/a.h:1',
    'include/millrace/a.h:2',
  ]);
});

test('documents name files that exist', () => {
  const tree = memoryTree({
    'ARCHITECTURE.md': 'See `core/net/a.cc`, `core/net/gone.cc` and\n[here](docs/gone.md).\n',
    'core/net/a.cc': '',
    'docs/b.md': '[up](../ARCHITECTURE.md#part), [out](https://example.org/x)\n',
  });
  assert.deepEqual(places(checkDocuments(tree)).sort(), ['ARCHITECTURE.md:1', 'ARCHITECTURE.md:2']);
  const headers = memoryTree({
    'include/millrace/a.h': '// See docs/b.md.\n// See docs/gone.md.\n',
    'docs/b.md': '',
  });
  assert.deepEqual(places(checkDocuments(headers)), ['include/millrace/a.h:2']);
});

/** @param {object[]} list */
const withExceptions = (list) => memoryTree({ 'tools/exceptions.json': JSON.stringify(list) });
const someProblem = { file: 'core/a.cc', line: 1, rule: 'columns', message: 'x' };
const someException = { file: 'core/a.cc', rule: 'columns', until: '2030-01-31', reason: 'y' };

test('an exception hides its problem until its date has passed', () => {
  const tree = withExceptions([someException]);
  assert.deepEqual(applyExceptions(tree, [someProblem], new Date('2030-01-31'), true), []);
  const late = applyExceptions(tree, [someProblem], new Date('2030-02-01'), true);
  assert.deepEqual(
    late.map(({ rule }) => rule),
    ['columns', 'exceptions'],
  );
});

test('an exception without a use, a date or a reason is itself a problem', () => {
  const now = new Date('2030-01-01');
  assert.equal(applyExceptions(withExceptions([someException]), [], now, true).length, 1);
  assert.equal(applyExceptions(withExceptions([someException]), [], now, false).length, 0);
  for (const missing of ['until', 'reason', 'rule']) {
    const tree = withExceptions([{ ...someException, [missing]: undefined }]);
    assert.equal(applyExceptions(tree, [someProblem], now, true).length, 2, missing);
  }
});

test('an exception does not hide other rules or files', () => {
  const other = { ...someProblem, rule: 'layers' };
  const tree = withExceptions([someException]);
  const left = applyExceptions(tree, [someProblem, other], new Date('2030-01-01'), true);
  assert.deepEqual(left, [other]);
});
