import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import * as triport from '../lib/index.ts'

type Texts = Readonly<Record<string, string>>
type Prune = (read: (path: string) => string, entry: string) => string

const { prune }: { readonly prune: Prune } = await import(pathToFileURL('.build/declarations.js').href)

function pruned(texts: Texts): string {
  const read = (path: string): string => texts[path] ?? assert.fail(`${path} is read, and is not there`)
  return prune(read, 'index.d.ts')
}

/** What a file declares, in its order; of each the line that it begins with. */
function heads(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^[a-z]/.test(line) && line !== 'export {};')
}

test('what is reached stays as it is, with its comments, and all else goes', () => {
  assert.equal(pruned({
    'index.d.ts': `/**
 * What this is.
 */
export { make } from './deep/make.ts';
export { Made, } from './deep/made.ts';
`,
    'deep/make.d.ts': `/**
 * How it is made.
 */
import type { Readable } from 'node:stream';
import type { Made, Unmade } from './made.ts';
/** Options, of \`Unmade\`. */
interface Options extends Limits {
    /** Bytes. */
    readonly size?: number;
    readonly from: Readable;
}
/** Limits. */
interface Limits {
    readonly ms: number;
}
/** Makes one of nothing. */
export declare function make(): Made;
export declare function make(options: Options): Made;
/** Unmakes it. */
export declare function unmake(made: Made): Unmade;
export {};
`,
    'deep/made.d.ts': `/** How they are. */
/** What is made. */
export declare class Made {
    #private;
    /** How large it is. */
    get size(): number;
}
export interface Unmade {
    readonly made: Made;
}
`,
  }), `/**
 * What this is.
 */
import type { Readable } from 'node:stream';

/** Options, of \`Unmade\`. */
interface Options extends Limits {
    /** Bytes. */
    readonly size?: number;
    readonly from: Readable;
}

/** Limits. */
interface Limits {
    readonly ms: number;
}

/** Makes one of nothing. */
export declare function make(): Made;
export declare function make(options: Options): Made;

/** What is made. */
export declare class Made {
    #private;
    /** How large it is. */
    get size(): number;
}

export {};
`)
})

const face = `export { A } from './a.ts';\n`
const one = 'export interface One {\n    readonly a: 1;\n}\n'

/** What follows from a declaration `A`, besides itself. */
const reaching: readonly (readonly [behaviour: string, texts: Texts, heads: readonly string[]])[] = [
  ['what something extends', {
    'a.d.ts': `export interface A extends B<C> {
}
interface B<T> {
    t: T;
}
interface C {
}
interface D {
}
`,
  }, ['export interface A extends B<C> {', 'interface B<T> {', 'interface C {']],
  ['what a class extends, and what it promises to have', {
    'a.d.ts': `import { B } from './b.ts';
import type { C, D } from './b.ts';
export declare abstract class A extends B implements C {
    #private;
}
`,
    'b.d.ts': `export declare class B {
}
export interface C {
}
export interface D {
}
`,
  }, ['export declare abstract class A extends B implements C {', 'declare class B {', 'interface C {']],
  ['the types of values', {
    'a.d.ts': `export type A = keyof typeof b | typeof d.e;
declare const b: C;
type C = 1;
declare const d: 2;
declare const e: 3;
`,
  }, [
    'export type A = keyof typeof b | typeof d.e;', 'declare const b: C;', 'type C = 1;',
    'declare const d: 2;',
  ]],
  ['either side of a condition, with what it is about', {
    'a.d.ts': 'export type A = B extends C ? D : E extends {\n    [F in G]: H;\n} ? I | J : K;\n'
      + [...'BCDEFGHIJKL'].map((name) => `type ${name} = 1;\n`).join(''),
  }, [
    'export type A = B extends C ? D : E extends {',
    // F is made there, and no more than what is called so.
    ...[...'BCDEFGHIJK'].map((name) => `type ${name} = 1;`),
  ]],
  ['not what members, parameters and parts of a tuple are called', {
    'a.d.ts': `export declare class A {
    b(): 1;
    readonly c?: 2;
    readonly l: 9;
    d(e: 3, f?: 4, ...g: 5[]): [h: 6, i?: 7];
    j?<T>(): T;
    get k(): 8;
}
` + [...'bcdefghijkl'].map((name) => `declare const ${name}: 1;\n`).join(''),
  }, ['export declare class A {']],
  ['the parts of a tuple', {
    'a.d.ts': 'export type A = [B, C?, ...D[]];\ntype B = 1;\ntype C = 1;\ntype D = 1;\n',
  }, ['export type A = [B, C?, ...D[]];', 'type B = 1;', 'type C = 1;', 'type D = 1;']],
  ['members that are called by a symbol', {
    'a.d.ts': 'declare const b: unique symbol;\nexport interface A {\n    readonly [b]: 1;\n}\n',
  }, ['declare const b: unique symbol;', 'export interface A {']],
  ['what is passed on, again and again, and declared in several pieces', {
    'a.d.ts': `export { A } from './b.ts';\nexport type { One } from './one.ts';\n`,
    'b.d.ts': `import type { A } from './deep/c.ts';\nexport { A };\nexport { A as B };\n`,
    'deep/c.d.ts': `import type { One } from '../one.js';\ninterface A {\n    b: One;\n}
interface A {\n    c: 2;\n}\ndeclare const A: A;\nexport { A };\n`,
    'one.d.ts': one,
  }, ['export interface A {', 'export interface A {', 'export declare const A: A;', 'interface One {']],
  ['texts, comments and templates name nothing', {
    'a.d.ts': `import type { One } from './one.ts';
export type A = 'One' | \`One\${B}One\` /* One */;
/** {@link One} */
type B = "One";
type C = One;
`,
  }, ["export type A = 'One' | `One${B}One` /* One */;", 'type B = "One";']],
  ['what packages have, once', {
    'a.d.ts': `import { type Readable, Writable } from 'node:stream';
import fs from 'node:fs';
import type { B } from './b.ts';
export type A = Readable | Writable | B;
export declare const channel: fs.Stats;
`,
    'b.d.ts': `import type { Readable, Duplex } from 'node:stream';
export type B = Readable | import("node:fs").Stats;
`,
  }, [
    `import type { Readable, Writable } from 'node:stream';`,
    'export type A = Readable | Writable | B;', 'type B = Readable | import("node:fs").Stats;',
  ]],
]

for (const [behaviour, texts, expected] of reaching) {
  test(`declarations are followed: ${behaviour}`, () => {
    assert.deepEqual(heads(pruned({ 'index.d.ts': face, ...texts })), expected)
  })
}

const other = 'cannot stand among others$'

const refused: readonly (readonly [texts: Texts, sentence: RegExp])[] = [
  [{
    'a.d.ts': `import type { B } from './b.ts';\nexport type A = B | C;\ntype C = 1;\n`,
    'b.d.ts': 'export type B = C;\ntype C = 2;\n',
  }, /^C is declared by a\.d\.ts and by b\.d\.ts; rename one$/],
  [{
    'a.d.ts': `import type { B } from './b.ts';\nimport type { C } from 'node:c';\nexport type A = B | C;\n`,
    'b.d.ts': 'export type B = C;\ntype C = 2;\n',
  }, /^C is declared by node:c and by b\.d\.ts; rename one$/],
  [{
    'a.d.ts': `import type { B } from './b.ts';\nexport type A = B | Request;\ninterface Request {\n}\n`,
    'b.d.ts': 'export type B = Request;\n',
  }, /^Request in b\.d\.ts is another than that of a\.d\.ts; rename one$/],
  [{ 'a.d.ts': `export { A } from './one.ts';\ninterface A {\n}\n` },
    /^a\.d\.ts declares A, and has another; rename one$/],
  [{ 'a.d.ts': `export { One as A } from './one.ts';\n`, 'one.d.ts': one },
    /^a\.d\.ts says A for One of one\.d\.ts; here it has one name$/],
  [{ 'a.d.ts': 'interface B {\n}\nexport { B as A };\n' },
    /^a\.d\.ts says A for B of a\.d\.ts; here it has one name$/],
  [{ 'a.d.ts': `import type * as b from 'node:b';\nexport type A = b.C;\n` },
    /^a\.d\.ts says b for \* of node:b; here it has one name$/],
  [{ 'a.d.ts': `import b from 'node:b';\nexport type A = b.C;\n` },
    /^a\.d\.ts says b for default of node:b; here it has one name$/],
  [{ 'a.d.ts': one }, /^a\.d\.ts is asked for A, which it does not declare$/],
  [{ 'a.d.ts': 'export interface A {\n    b: import("./b.ts").B;\n}\n' },
    /^a\.d\.ts takes a type in place in 'export interface A \{'; import it$/],
  ...[
    'declare global {\n    interface A {\n    }\n}', `declare module 'a' {\n}`,
    'export declare namespace A {\n}',
    'export declare enum A {\n}', 'export declare const enum A {\n}', `export * from './one.ts';`,
    `export * as A from './one.ts';`, `import './one.ts';`, 'export default A;', 'export = A;',
    'export as namespace A;', `import A = require('./one.ts');`, '/// <reference types="node" />',
    'export declare let A: 1;', 'export declare const { A }: One;',
  ].map((text): readonly [Texts, RegExp] => {
    const line = text.split('\n', 1).join().replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    return [{ 'a.d.ts': `${text}\n` }, new RegExp(`^a\\.d\\.ts says '${line}', which ${other}`)]
  }),
]

test('what would not mean the same in one file of declarations is refused with a sentence', () => {
  for (const [texts, message] of refused) {
    assert.throws(() => pruned({ 'index.d.ts': face, ...texts }), { message })
  }
})

test('a class that is exported as a type alone cannot be imported as a value', () => {
  const text = pruned({
    'index.d.ts': `export { One } from './one.ts';\nexport type { A, B } from './a.ts';\n`,
    'a.d.ts': 'export declare class A {\n}\nexport type B = A;\n',
    'one.d.ts': 'export declare class One {\n}\n',
  })
  assert.deepEqual(heads(text), [
    'export declare class One {', 'declare class A {', 'export type B = A;', 'export type { A };',
  ])
})

test('what is shipped exports the public face, and nothing that is behind it', () => {
  const names = (text: string, pattern: RegExp): readonly string[] => (
    [...text.matchAll(pattern)].flatMap(([, one, list = one ?? '']) => list.split(','))
      .map((name) => name.trim()).filter((name) => name !== '')
  )
  const sorted = (list: readonly string[]): readonly string[] => [...new Set(list)].toSorted()
  const shipped = readFileSync('dist/index.d.ts', 'utf8')
  const face = readFileSync('lib/index.ts', 'utf8')
  const values = names(shipped, /^export declare (?:const|function|class) ([\w$]+)/gm)
  const types = names(shipped, /^export (?:(?:interface|type) ([\w$]+)|type \{([^}]*)\};$)/gm)
  assert.deepEqual(sorted(values), Object.keys(triport).toSorted())
  assert.deepEqual(sorted([...values, ...types]), sorted(names(face, /^export (?:type )?\{([^}]*)\}/gm)))
  assert.ok(types.length > 50)
  // Without this line, what only stands behind it could be imported too.
  assert.match(shipped, /\nexport type \{[^{}]*\};\n$/)
})
