import assert from 'node:assert/strict'
import test from 'node:test'
import { pushSettingsOf } from '../../lib/a2a/push-options.ts'

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
