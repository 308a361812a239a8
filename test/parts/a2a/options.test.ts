import assert from 'node:assert/strict'
import test from 'node:test'
import { requireTenantPaths } from '../../../lib/parts/a2a/model/options.ts'
import { a2a } from '../../../lib/parts/a2a/part.ts'

const loop: Record<string, unknown> = {}
loop['loop'] = loop
const uri = 'https://a.example/x/v1'

const wrong: readonly (readonly [options: Record<string, unknown>, sentence: RegExp])[] = [
  [{ crad: '1.0' }, /^a2a has no option 'crad'; did you mean 'card'\?$/],
  [{ card: '2.0' }, /^a2a\.card is "2\.0"; write 'hybrid', '1\.0' or '0\.3'$/],
  [{ provider: 'Example' }, /^a2a\.provider needs an organization and a url; write \{ organization/],
  [{ provider: { organization: 'A', url: 'a.example' } }, /^a2a\.provider needs/],
  [{ provider: { organization: 'A', url: 'https://a.example', mail: 'a' } },
    /^a2a\.provider has no option 'mail'/],
  [{ documentationUrl: '/docs' }, /^a2a\.documentationUrl is "\/docs"; write an address/],
  [{ iconUrl: 'javascript:1' }, /^a2a\.iconUrl is "javascript:1"; write an address/],
  [{ pushNotifications: 'no' }, /^a2a\.pushNotifications is "no"; write true, or \{ allowedHosts/],
  [{ extensions: uri }, /^a2a\.extensions needs the uri of each/],
  [{ extensions: { uri } }, /^a2a\.extensions is an object; write a list, as in \[\{ uri \}\]$/],
  [{ extensions: [{ uri: 'geo' }] }, /^a2a\.extensions needs the uri of each/],
  [{ extensions: [{ uri: `${uri},${uri}` }] }, /^a2a\.extensions needs the uri of each/],
  [{ extensions: [{ uri: `${uri}\r\nX: 1` }] }, /^a2a\.extensions needs the uri of each/],
  [{ extensions: [{ uri, require: true }] },
    /^a2a\.extensions ".*" has no option 'require'; did you mean 'required'/],
  [{ extensions: [{ uri, required: 1 }] }, /^a2a\.extensions ".*" has required 1; write true or false$/],
  [{ extensions: [{ uri, description: '' }] }, /^a2a\.extensions ".*" has description ""; write a string/],
  [{ extensions: [{ uri, params: [] }] }, /^a2a\.extensions ".*" has params an array; write an object/],
  [{ extensions: [{ uri, params: loop }] },
    /^a2a\.extensions ".*" has params an object; write an object of JSON/],
  [{ extensions: [{ uri }, { uri }] }, /^a2a\.extensions ".*" is there twice; leave one of them out$/],
  [{ signingKey: 'none' }, /^a2a\.signingKey is no ES256 private key/],
  [{ extendedCard: 'more' }, /^a2a\.extendedCard is "more"; write \{ description/],
  [{ extendedCard: { skill: [] } }, /^a2a\.extendedCard has no option 'skill'; did you mean 'skills'\?$/],
  [{ extendedCard: { description: '' } }, /^a2a\.extendedCard\.description is ""; write a string/],
  [{ extendedCard: { iconUrl: 'icon' } }, /^a2a\.extendedCard\.iconUrl is "icon"; write an address/],
  [{ extendedCard: { inputModes: 'text' } }, /^a2a\.extendedCard has inputModes "text"; write a list/],
  [{ extendedCard: { skills: [{ id: 'a' }] } },
    /^a2a\.extendedCard has skills without id, name or description/],
  [{ tenants: 'acme' }, /^a2a\.tenants is "acme"; write a list, as in \['acme'\]$/],
  [{ tenants: ['acme', 'acme'] }, /^a2a\.tenants has "acme" twice; leave one of them out$/],
  ...['', '.', '..', 'a/b', 'a\\b', 'a\0', '\ud800', 'x'.repeat(257), 7].map((tenant) => {
    return [{ tenants: [tenant] }, /^a2a\.tenants has .*; write names of 1 to 256 bytes without/] as const
  }),
]

test('what can be no option of this door says what to write', () => {
  for (const [options, message] of wrong) {
    assert.throws(() => a2a(options), { name: 'TypeError', message })
  }
})

test('what can be one is taken', () => {
  a2a({})
  a2a({
    card: '0.3', provider: { organization: 'A', url: 'https://a.example' },
    iconUrl: 'https://a.example/icon.png', documentationUrl: undefined,
    extensions: [{ uri: 'urn:example:x', params: { a: [1] } }],
    extendedCard: () => undefined, tenants: ['acme', 'Straße 7'], pushNotifications: true,
  })
})

test('a tenant is not called like the first segment of a path', () => {
  const paths = ['/', '/a2a/', '/agents/{agent}', '/message:send']
  requireTenantPaths(['acme'], paths)
  for (const tenant of ['a2a', 'agents', 'message:send']) {
    assert.throws(() => requireTenantPaths(['acme', tenant], paths), {
      name: 'TypeError',
      message: `a2a.tenants has "${tenant}", and /${tenant} is a path already; choose another name`,
    })
  }
})
