import assert from 'node:assert/strict'
import test from 'node:test'
import { defineResource, defineResourceTemplate } from '../../../lib/kernel/define/resource.ts'
import { contentsOf } from '../../../lib/kernel/run/read-output.ts'
import type { Call } from '../../../lib/kernel/define/call.ts'
import type { ResourceDefinition } from '../../../lib/kernel.ts'

const call = {} as Call

test('a resource that an author has frozen is defined like any other', () => {
  const given = Object.freeze({ kind: 'resource', uri: 'x:1', name: 'one', read: () => 'a' })
  assert.deepEqual(defineResource(given as unknown as ResourceDefinition).scopes, [])
})

test('a resource is frozen, and a resource is itself', () => {
  const read = (): string => '# Hello'
  const resource = defineResource({ uri: 'docs://readme', name: 'readme', scopes: ['read'], read })
  assert.ok(Object.isFrozen(resource) && Object.isFrozen(resource.scopes))
  assert.equal(resource.kind, 'resource')
  assert.deepEqual(resource.scopes, ['read'])
  assert.equal(resource.read(call), '# Hello')
  assert.equal(defineResource(resource), resource)
  assert.deepEqual(defineResource({ uri: 'x:1', name: 'x', read: () => '' }).scopes, [])
})

test('a resource or template may be an object with methods and state', () => {
  class Counter {
    uri = 'counter://one'
    name = 'counter'
    #count = 0
    read(): string { return String(++this.#count) }
  }
  const resource = defineResource(new Counter())
  assert.equal(resource.read(call), '1')
  assert.equal(resource.read(call), '2')
  class Numbered extends Counter {
    uriTemplate = 'counter://{n}'
  }
  assert.equal(defineResourceTemplate(new Numbered()).read({ n: '1' }, call), '1')
})

test('what an author states of a resource is kept', () => {
  const given = {
    uri: 'docs://logo', name: 'logo', title: 'Logo', description: 'The logo.', mimeType: 'image/png',
    size: 68, annotations: { audience: ['user'], priority: 0.5 }, icons: [{ src: 'data:,' }], _meta: { a: 1 },
  } as const
  const { kind, read, scopes, ...rest } = defineResource({ ...given, read: () => new Uint8Array() })
  assert.deepEqual(rest, given)
})

test('a template knows its variables and reads them from a URI', () => {
  const template = defineResourceTemplate({
    uriTemplate: 'docs://{section}/{page}', name: 'page', read: ({ section, page }) => `${section}: ${page}`,
  })
  assert.ok(Object.isFrozen(template))
  assert.equal(template.kind, 'resource-template')
  assert.deepEqual(template.matcher.variables, ['section', 'page'])
  assert.equal(template.read(template.matcher.match('docs://a/b')!, call), 'a: b')
  assert.equal(defineResourceTemplate(template), template)
})

test('completers stand by the name of their variable', () => {
  const page = (): readonly string[] => ['one']
  const template = defineResourceTemplate({
    uriTemplate: 'docs://{page}{?q}', name: 'page', read: () => '', complete: { page, q: undefined },
  })
  assert.deepEqual([...template.completers], [['page', page]])
})

test('a copy of a resource or a template keeps what it had', () => {
  const resource = defineResource({ uri: 'x:1', name: 'x', mimeType: 'text/plain', read: () => '' })
  assert.equal(defineResource({ ...resource, uri: 'x:2' }).mimeType, 'text/plain')
  const a = (): readonly string[] => ['one']
  const template = defineResourceTemplate({
    uriTemplate: 'x:{a}', name: 'x', read: () => '', complete: { a },
  })
  const copy = defineResourceTemplate({ ...template, uriTemplate: 'y:{a}' })
  assert.equal(copy.matcher.match('y:1')?.['a'], '1')
  assert.deepEqual([...copy.completers], [['a', a]])
})

test('a mistake in a definition says what to write instead', () => {
  const read = (): string => ''
  const resource = { uri: 'x:1', name: 'x', read }
  const template = { uriTemplate: 'x:{a}', name: 'x', read }
  const resources: readonly (readonly [object, RegExp])[] = [
    [{ ...resource, uri: undefined }, /A resource needs 'uri': a non-empty string, not undefined/],
    [{ ...resource, uri: 'readme' }, /'readme' has no whole URI; write one with a scheme, as in 'docs:/],
    [{ ...resource, uri: 'http://' }, /no whole URI/],
    [{ ...resource, name: '' }, /The resource 'x:1' needs 'name'/],
    [{ ...resource, read: 'text' }, /needs 'read': a function, not "text"\. Write \{ uri: /],
    [{ ...resource, mimeType: 7 }, /has mimeType 7; write a string, or leave it out/],
    [{ ...resource, size: -1 }, /has size -1; write its bytes/],
    [{ uri: 'x:1', name: 'x', run: read }, /The resource 'x:1' needs 'read'.* Rename its 'run' to 'read'$/],
    [{ ...resource, mimetype: 'a/b' },
      /The resource 'x:1' has no option 'mimetype'; did you mean 'mimeType'\?/],
    [{ ...resource, kind: 'tool' }, /The resource 'x:1' has the kind "tool"; put it into 'tools'/],
    [{ ...resource, annotations: 7 }, /has annotations 7; write \{ audience: \['user'\], priority: 0\.5 \}/],
    [{ ...resource, annotations: { audience: 'user' } },
      /The resource 'x:1', in its annotations, has audience "user"; write a list of strings/],
    [{ ...resource, annotations: { audience: ['me'] } },
      /has the audience "me"; write 'user' or 'assistant'/],
    [{ ...resource, annotations: { priority: 2 } }, /has priority 2; write a number from 0 to 1/],
    [{ ...resource, annotations: { lastModified: 7 } }, /has lastModified 7; write a string/],
    [{ ...resource, _meta: 'a' }, /The resource 'x:1' has _meta "a"; write an object/],
    [{ ...resource, annotations: { audeince: [] } },
      /The resource 'x:1', in its annotations, has no option 'audeince'; did you mean 'audience'\?/],
    [{ ...resource, icons: 'a.png' }, /has icons without a src/],
    [defineResourceTemplate(template), /needs 'uri'/],
  ]
  for (const [given, message] of resources) {
    assert.throws(() => defineResource(given as never), { name: 'TypeError', message })
  }
  const templates: readonly (readonly [object, RegExp])[] = [
    [{ ...template, uriTemplate: 7 }, /A resource template needs 'uriTemplate': a non-empty string, not 7/],
    [{ ...template, uriTemplate: 'x:{a' }, /'x:\{a' is broken at character 3/],
    [{ ...template, uriTemplate: 'x:1' }, /has no variable; write one, as in 'docs:\/\/\{page\}'/],
    [{ ...template, name: undefined }, /The resource template 'x:\{a\}' needs 'name'/],
    [{ ...template, title: {} }, /has title an object; write a string/],
    [{ ...template, read: undefined }, /needs 'read': a function/],
    [{ ...template, completes: {} }, /'x:\{a\}' has no option 'completes'; did you mean 'complete'\?/],
    [{ ...template, uri: 'x:1' }, /has no option 'uri'/],
    [{ ...template, kind: 'resource' }, /has the kind "resource"; put it into 'resources'/],
    [{ ...template, kind: 'resource-template', matcher: 7 }, /has no option 'matcher'/],
    [{ ...template, complete: { b: () => [] } }, /completes 'b', which is none of its arguments: it has a/],
    [{ ...template, complete: { a: ['one'] } }, /completes 'a' with an array; write a function/],
    [{ ...template, complete: () => [] }, /has complete a function; write complete: \{/],
  ]
  for (const [given, message] of templates) {
    assert.throws(() => defineResourceTemplate(given as never), { name: 'TypeError', message })
  }
  assert.throws(() => defineResource('x' as never), /TypeError: defineResource takes an object, not "x"/)
})

test('what is read gets its normal form', () => {
  const uri = 'x:1'
  const mimeType = 'text/plain'
  const rows: readonly (readonly [unknown, unknown])[] = [
    ['hi', [{ uri, mimeType, text: 'hi' }]],
    ['', [{ uri, mimeType, text: '' }]],
    [new Uint8Array([1, 2, 3]), [{ uri, mimeType, blob: 'AQID' }]],
    [Buffer.from('hi'), [{ uri, mimeType, blob: 'aGk=' }]],
    [{ text: 'hi' }, [{ uri, mimeType, text: 'hi' }]],
    [{ blob: 'AQID', mimeType: 'image/png' }, [{ uri, mimeType: 'image/png', blob: 'AQID' }]],
    [{ blob: '-_8\n' }, [{ uri, mimeType, blob: '+/8=' }]],
    [{ uri: 'x:2', text: 'hi', _meta: { a: 1 } }, [{ uri: 'x:2', mimeType, text: 'hi', _meta: { a: 1 } }]],
    [
      [{ text: 'a' }, { blob: new Uint8Array([1]) }],
      [{ uri, mimeType, text: 'a' }, { uri, mimeType, blob: 'AQ==' }],
    ],
    [[], []],
  ]
  for (const [output, expected] of rows) assert.deepEqual(contentsOf(output, uri, { mimeType }), expected)
  assert.deepEqual(contentsOf('hi', uri, {}), [{ uri, text: 'hi' }])
})

test('what is no text, no bytes and no contents is a mistake', () => {
  const bad: readonly unknown[] = [
    undefined, null, 7, {}, { text: 7 }, { text: 'a', blob: 'b' }, { blob: [1] }, ['text'], [[{ text: 'a' }]],
  ]
  for (const output of bad) {
    assert.throws(() => contentsOf(output, 'x:1', {}), {
      name: 'TypeError', message: /The resource 'x:1' was read as .*; return a string, a Uint8Array/,
    })
  }
  assert.throws(() => contentsOf({ blob: '!' }, 'x:1', {}), {
    name: 'TypeError',
    message: /^The resource 'x:1' was read as a blob that is no base64; return a Uint8Array/,
  })
})

test('what a definition says of its contents stands where they say nothing themselves', () => {
  const _meta = { ui: { prefersBorder: true } }
  assert.deepEqual(contentsOf('hi', 'x:1', { _meta }), [{ uri: 'x:1', text: 'hi', _meta }])
  assert.deepEqual(contentsOf({ text: 'hi', _meta: { a: 1 } }, 'x:1', { _meta })[0]!._meta, { a: 1 })
})
