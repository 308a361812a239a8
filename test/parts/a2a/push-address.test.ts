import assert from 'node:assert/strict'
import test from 'node:test'
import { checkPushUrl } from '../../../lib/parts/a2a/model/push-address.ts'
import { pushSettingsOf } from '../../../lib/parts/a2a/model/push-settings.ts'
import type { AddressRules } from '../../../lib/parts/a2a/model/push-address.ts'

const strict: AddressRules = { allowInsecure: false, allowPrivate: false, allowedHosts: undefined }
const open: AddressRules = { allowInsecure: true, allowPrivate: true, allowedHosts: undefined }

const refused: readonly (readonly [url: string, why: RegExp])[] = [
  ['', /must be an absolute address/],
  ['hooks.example.com/a', /must be an absolute address/],
  ['/hook', /must be an absolute address/],
  ['https://', /must be an absolute address/],
  ['https://exa mple.com/', /must be an absolute address/],
  ['ht\ttps://example.com/', /must be an absolute address/],
  ['https://example.com/\r\nX: y', /must be an absolute address/],
  ['https://[fe80::1%25eth0]/', /must be an absolute address/],
  ['https://[fe80::1%eth0]/', /must be an absolute address/],
  ['https://1.2.3.4.5/', /must be an absolute address/],
  [`https://example.com/${'a'.repeat(2_048)}`, /at most 2048 bytes/],
  ['http://example.com/hook', /must begin with https:; http: is not allowed/],
  ['ftp://example.com/', /must begin with https:/],
  ['file:///etc/passwd', /must begin with https:/],
  ['data:text/plain,a', /must begin with https:/],
  ['javascript:alert(1)', /must begin with https:/],
  ['gopher://example.com/', /must begin with https:/],
  ...['localhost..', 'localhost...', 'LOCALHOST\u3002\u3002', 'example.com..', '.example.org', '..',
    'a..example.org', '\u3002example.org', `${'a'.repeat(64)}.example.org`, 'a!b.example.org',
    'a*b.example.org', '*.example.org', Array(64).fill('abcd').join('.'), '127.0.0.1..',
  ].map((host) => [`https://${host}/hook`, /must have the name or the address of a host/] as const),
  ['https://user@example.com/', /no user name or password/],
  ['https://:secret@example.com/', /no user name or password/],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.', '127.0.0.1', '127.0.0.1.',
    '127.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.1', '127.255.255.254',
    '\uff11\uff12\uff17.\uff10.\uff10.\uff11', '127\u30020\u30020\u30021', '[::1]', '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '%6cocalhost',
    'localhost\u3002', 'a\uff0elocalhost', '[2606:4700::5efe:7f00:1]',
  ].map((host) => [`https://${host}/hook`, /leads to this machine; give one/] as const),
  ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '3232235777', '0xc0a80101', '192.168.257', '100.64.0.1',
    '198.18.0.1', 'intranet', 'kubernetes.', 'printer.local', 'PRINTER.LOCAL.', 'metadata.google.internal',
    'nas.home.arpa', '[fc00::1]', '[fd00::1]', '[::ffff:10.0.0.1]', '[64:ff9b::10.0.0.1]', '[2002:a00:1::]',
  ].map((host) => [`https://${host}/hook`, /leads into a private network/] as const),
  ...['0.0.0.0', '0', '0.1.2.3', '169.254.169.254', '0xa9fea9fe', '224.0.0.1', '240.0.0.1', '255.255.255.255',
    '192.0.2.1', '[::]', '[fe80::1]', '[ff02::1]', '[2001:db8::1]', '[::127.0.0.1]', '[64:ff9b:1::1]',
    '[::ffff:169.254.169.254]', '[3ffe::1]', '[5f00::1]', '[100:0:0:1::1]', '[2001:1::1]', '192.0.0.9',
    '192.31.196.1', '192.175.48.1', '[2620:4f:8000::1]',
  ].map((host) => [`https://${host}/hook`, /leads where nothing is posted to/] as const),
]

test('an address that leads into the house, or is none, is refused with what to use instead', () => {
  for (const [url, why] of refused) {
    assert.throws(() => checkPushUrl(url, strict), (error: Error & { kind?: string }) => {
      assert.match(error.message, why, url)
      assert.equal(error.kind, 'invalid')
      return error.message.length < 300
    }, url)
  }
})

test('an address of the internet is taken, however it is written', () => {
  const taken = [
    'https://example.com/hook', 'https://EXAMPLE.com:8443/a?b=c#d', 'https://example.com./',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/', 'https://localhost.example.com/', 'https://notlocalhost.com/',
    'https://internal.example.com/', 'https://example.notlocal/', 'https://_a-b.example.com/',
    'https://127.0.0.1.example.com/', 'https://134744072/',
  ]
  for (const url of taken) assert.equal(checkPushUrl(url, strict).protocol, 'https:', url)
})

test('what the operator opts out of is taken, and nothing else', () => {
  const insecure = { ...strict, allowInsecure: true }
  assert.equal(checkPushUrl('http://example.com/', insecure).protocol, 'http:')
  assert.throws(() => checkPushUrl('ws://example.com/', insecure), /must begin with https:/)
  assert.throws(() => checkPushUrl('http://127.0.0.1/', insecure), /to this machine/)
  for (const host of ['localhost', '127.0.0.1', '10.0.0.1', '[::1]', '[fd00::1]']) {
    assert.equal(checkPushUrl(`http://${host}:9000/`, open).port, '9000', host)
  }
  for (const host of ['169.254.169.254', '0.0.0.0', '[fe80::1]', '224.0.0.1', '[::]']) {
    assert.throws(() => checkPushUrl(`http://${host}/`, open), /where nothing is posted to/, host)
  }
})

test('a listed host in other letters is the one that addresses write as xn--', () => {
  const listed = pushSettingsOf({ allowedHosts: ['bücher.example:8443', '*.BÜCHER.example'] })!
  for (const url of ['https://xn--bcher-kva.example:8443/', 'https://a.bücher.example/']) {
    assert.ok(checkPushUrl(url, listed), url)
  }
  assert.throws(() => checkPushUrl('https://bücher.example/', listed), /one of the hosts that the operator/)
  for (const host of ['bü cher.example', 'https://bücher.example', 'bücher.example:0', 'a@bücher.de']) {
    assert.throws(() => pushSettingsOf({ allowedHosts: [host] }), /write names, as in/, host)
  }
})

test('with a list of hosts only those are posted to', () => {
  const listed = (...allowedHosts: string[]): AddressRules => ({ ...open, allowedHosts })
  const rows: readonly (readonly [host: string, url: string, isTaken: boolean])[] = [
    ['hooks.example.com', 'https://hooks.example.com/', true],
    ['hooks.example.com', 'https://HOOKS.example.com.:8443/', true],
    ['hooks.example.com', 'https://a.hooks.example.com/', false],
    ['hooks.example.com', 'https://hooks.example.com.evil.test/', false],
    ['*.example.com', 'https://hooks.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://a.b.example.com./', true],
    ['*.example.com', 'https://evilexample.com/', false],
    ['localhost:9000', 'http://localhost:9000/', true],
    ['localhost:9000', 'http://localhost:9001/', false],
    ['localhost:443', 'https://localhost/', true],
    ['localhost:443', 'http://localhost/', false],
    ['[::1]', 'http://[::1]:1/', true],
    ['127.0.0.1', 'http://0x7f.1/', true],
  ]
  for (const [host, url, isTaken] of rows) {
    const check = (): URL => checkPushUrl(url, listed(host))
    if (isTaken) assert.ok(check(), url)
    else assert.throws(check, /one of the hosts that the operator/, `${host} ${url}`)
  }
  assert.throws(() => checkPushUrl('https://a.test/', listed()), /one of the hosts/)
  assert.throws(() => checkPushUrl('https://.example.com/', listed('*.example.com')), /must have the name/)
})

test('webhooks are off unless they are asked for', () => {
  assert.equal(pushSettingsOf(undefined), undefined)
  assert.equal(pushSettingsOf(false), undefined)
})

test('what is left out is as safe as can be', () => {
  const safe = {
    allowInsecure: false, allowPrivate: false, allowedHosts: undefined, timeoutMs: 10_000,
    retryDelaysMs: [1_000, 5_000, 25_000],
  }
  assert.deepEqual(pushSettingsOf(true), safe)
  assert.deepEqual(pushSettingsOf({}), safe)
  assert.deepEqual(pushSettingsOf({ timeoutMs: undefined, allowPrivate: undefined }), safe)
  const hosts = ['Hooks.example.com', '*.example.org', 'localhost:9000', '[::1]:80', '10.0.0.1']
  const lifted = { allowInsecure: true, allowPrivate: true, retryDelaysMs: [] }
  assert.deepEqual(pushSettingsOf({ ...lifted, allowedHosts: hosts }), {
    ...lifted, allowedHosts: hosts.map((host) => host.toLowerCase()), timeoutMs: 10_000,
  })
})

const wrong: readonly (readonly [given: unknown, complaint: RegExp])[] = [
  ['yes', /a2a\.pushNotifications is "yes"; write true, or/],
  [1, /is 1; write true/],
  [[], /is an array; write true/],
  [{ allowInsecur: true }, /did you mean 'allowInsecure'/],
  [{ secret: 1 }, /has no option 'secret'; it has allowInsecure/],
  [{ allowPrivate: 'no' }, /allowPrivate is "no"; write true or false/],
  [{ allowedHosts: 'a.test' }, /allowedHosts has "a\.test"; write names/],
  [{ allowedHosts: ['https://a.test'] }, /allowedHosts has "https:\/\/a\.test"; write names/],
  [{ allowedHosts: ['*'] }, /allowedHosts has "\*"; write names/],
  ...['.example.org', '*..example.org', '*.', 'example.org.', 'a..b', 'a.test:0', 'a.test:0443', '0x7f.1',
    'a.test:65536', '127.1', '[0:0:0:0:0:0:0:1]', '[::1', 'b\u00fc cher.de', 'a.test/hook', '',
  ].map((host) => [{ allowedHosts: ['fine.test', host] }, /allowedHosts has .*; write names/] as const),
  [{ allowedHosts: [7] }, /allowedHosts has 7; write names/],
  [{ timeoutMs: 0 }, /timeoutMs is 0; write milliseconds, 1 to 3600000/],
  [{ timeoutMs: Infinity }, /timeoutMs is Infinity/],
  [{ retryDelaysMs: 5 }, /retryDelaysMs is 5; write milliseconds, .* a list of at most 10/],
  [{ retryDelaysMs: Array(11).fill(1) }, /retryDelaysMs is an array/],
  [{ retryDelaysMs: [1.5] }, /retryDelaysMs is an array/],
]

test('what cannot be meant is refused with what to write instead', () => {
  for (const [given, complaint] of wrong) {
    assert.throws(() => pushSettingsOf(given as boolean), complaint, JSON.stringify(given))
  }
})
