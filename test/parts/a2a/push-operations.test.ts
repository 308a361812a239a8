import assert from 'node:assert/strict'
import test from 'node:test'
import { tasksOf } from '../../../lib/floors/tasks/tasks-floor.ts'
import { Push } from '../../../lib/parts/a2a/push/push.ts'
import { operations } from '../../../lib/parts/a2a/tasks/operations.ts'
import { preparePush } from '../../../lib/parts/a2a/tasks/send.ts'
import { pushSettingsOf } from '../../../lib/parts/a2a/model/push-settings.ts'
import { createServer } from '../../../lib/index.ts'
import { request } from '../../fixtures/client.ts'
import { serviceWith, taskOf, webhook, wordDialect } from '../../fixtures/webhook.ts'
import type { TestContext } from 'node:test'
import type { PushConfig } from '../../../lib/parts/a2a/model/model.ts'
import type { A2aRequest } from '../../../lib/parts/a2a/tasks/request.ts'
import type { PushOptions } from '../../../lib/parts/a2a/model/push-settings.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'

interface Callers { readonly ann: A2aRequest; readonly bob: A2aRequest; readonly task: Task }

async function callers(t: TestContext, options: PushOptions | false = {}): Promise<Callers> {
  const service = serviceWith(undefined)
  const settings = pushSettingsOf(options)
  const push = settings && new Push(service, settings, { dialectOf: wordDialect })
  t.after(() => push?.close())
  const caller = (owner: string): A2aRequest => ({
    context: { service, tasks: tasksOf(service), push }, dialect: wordDialect('1.0'),
    agent: { id: 'Assistant' },
    exchange: { origin: { principal: { id: owner, scopes: [] }, header: () => undefined } },
  } as unknown as A2aRequest)
  return { ann: caller('ann'), bob: caller('bob'), task: await taskOf(service) }
}

function config(taskId: string, more: Partial<PushConfig> = {}): PushConfig & { readonly taskId: string } {
  // An address of the internet that nobody answers at.
  return { id: 'a', url: 'https://8.8.8.8:1/', token: undefined, authentication: undefined, ...more, taskId }
}

type Given = PushConfig & { readonly taskId: string }

const create = async (caller: A2aRequest, given: Given): Promise<PushConfig> => (
  operations['push-create']!(caller, { tenant: undefined, config: given })
)

test('switched off, nothing of it is supported, whichever task it is about', async (t) => {
  const { ann, task } = await callers(t, false)
  for (const taskId of [task.id, 'unknown']) {
    const one = { tenant: undefined, taskId, id: 'a' }
    const refusals = [
      () => create(ann, config(taskId)),
      async () => operations['push-get']!(ann, one),
      async () => operations['push-list']!(ann, { ...one, pageSize: undefined, pageToken: '' }),
      async () => operations['push-delete']!(ann, one),
      () => preparePush(ann, config(taskId), undefined),
    ]
    for (const refused of refusals) {
      await assert.rejects(refused, { reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' })
    }
  }
})

test('a configuration is made, read, listed and deleted, and shows nothing secret on the way', async (t) => {
  const { ann, task } = await callers(t)
  const authentication = { schemes: ['Bearer'], credentials: 'hidden' }
  const answers: unknown[] = [await create(ann, config(task.id, { token: 'hidden', authentication }))]
  const one = { tenant: undefined, taskId: task.id, id: 'a' }
  answers.push(await operations['push-get']!(ann, one))
  const page = await operations['push-list']!(ann, { ...one, pageSize: undefined, pageToken: '' })
  answers.push(...page.configs)
  assert.equal(answers.length, 3)
  for (const answer of answers) {
    assert.deepEqual(answer, {
      id: 'a', taskId: task.id, url: 'https://8.8.8.8:1/', token: undefined,
      authentication: { schemes: ['Bearer'], credentials: undefined },
    })
  }
  for (let again = 0; again < 2; again++) assert.equal(await operations['push-delete']!(ann, one), undefined)
  await assert.rejects(async () => operations['push-get']!(ann, one), { reason: 'TASK_NOT_FOUND' })
})

test('of a task that is not the caller\'s nothing is found', async (t) => {
  const { ann, bob, task } = await callers(t)
  await create(ann, config(task.id))
  const one = { tenant: undefined, taskId: task.id, id: 'a' }
  const refusals = [
    () => create(bob, config(task.id, { url: 'https://127.0.0.1/' })),
    async () => operations['push-get']!(bob, one),
    async () => operations['push-list']!(bob, { ...one, pageSize: undefined, pageToken: '' }),
    async () => operations['push-delete']!(bob, one),
  ]
  for (const refused of refusals) await assert.rejects(refused, { reason: 'TASK_NOT_FOUND' })
  assert.equal((await operations['push-get']!(ann, one)).id, 'a')
})

test('what may not be posted to is refused when it is made, and before a message is run', async (t) => {
  const { ann, task } = await callers(t)
  const wrong: readonly (readonly [member: string, config: Partial<PushConfig>])[] = [
    ['url', { url: 'http://example.com/' }], ['url', { url: 'https://localhost/' }],
    ['url', { url: 'https://0x7f.1/' }], ['url', { url: 'no address' }],
    ['id', { id: 'a/b' }], ['token', { token: 'a\r\nb' }],
    ['authentication', { authentication: { schemes: ['a b'], credentials: undefined } }],
    ['authentication.credentials', { authentication: { schemes: ['Bearer'], credentials: 'a\nb' } }],
  ]
  for (const [member, more] of wrong) {
    const given = config(task.id, more)
    const refused = (at: string): object => ({
      kind: 'invalid', field: `${at}.${member}`, message: new RegExp(`^${at}\\.${member} (?:must|leads) `),
    })
    await assert.rejects(() => create(ann, given), refused('params'))
    await assert.rejects(() => preparePush(ann, given, undefined), refused('params.configuration.hook'))
  }
  assert.deepEqual(await ann.context.push!.configs.of(task), [])
})

test('what a message carries is registered for its task, once however often it is carried', async (t) => {
  const { ann, task } = await callers(t, { allowInsecure: true, allowPrivate: true })
  const hook = await webhook(t)
  for (let message = 0; message < 3; message++) {
    const carried = { ...config(task.id, { url: hook.url, id: undefined }), taskId: undefined }
    const register = await preparePush(ann, carried, task.id)
    await register(task)
    await hook.until(message + 1)
  }
  assert.deepEqual((await ann.context.push!.configs.of(task)).map(({ id }) => id), [task.id])
})

test('a server takes the option, and refuses one that it does not know', async () => {
  const agents = [{ name: 'Assistant', description: 'Answers.', run: () => 'yes' }]
  const pushNotifications = { allowedHosts: ['hooks.example.com'] }
  await createServer({ agents, protocol: 'a2a', a2a: { pushNotifications } }).close()
  assert.throws(() => createServer({
    agents, protocol: 'a2a', a2a: { pushNotifications: { allowedHost: ['hooks.example.com'] } as object },
  }), /a2a\.pushNotifications has no option 'allowedHost'; did you mean 'allowedHosts'/)
})

test('what is wrong with a webhook names its member where the client wrote it, in every form', async (t) => {
  const run = (): object => ({ text: 'More?', state: 'input-required' })
  const agents = [{ name: 'Assistant', description: 'Answers.', run }]
  const server = createServer({ agents, protocol: 'a2a', a2a: { pushNotifications: true } })
  t.after(() => server.close())
  const post = async (path: string, body: object): Promise<unknown> => (
    (await server.fetch(request(path, body))).json()
  )
  const call = async (method: string, params: object): Promise<unknown> => (
    post('/a2a', { jsonrpc: '2.0', id: 1, method, params })
  )
  const hook = { url: 'http://example.com/' }
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const old = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
  const { task: { id } } = await post('/message:send', { message }) as { task: { id: string } }
  const configuration = { taskPushNotificationConfig: hook }
  const rows: readonly (readonly [answer: Promise<unknown>, field: string, said: string])[] = [
    [call('CreateTaskPushNotificationConfig', { ...hook, taskId: id }), '"field":"url"', 'params.url'],
    [post(`/tasks/${id}/pushNotificationConfigs`, hook), '"field":"url"', '"url'],
    [call('SendMessage', { message, configuration }),
      '"field":"configuration.taskPushNotificationConfig.url"', 'params.configuration.'],
    [post('/message:send', { message, configuration }),
      '"field":"configuration.taskPushNotificationConfig.url"', '"configuration.'],
    [call('tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig: hook }),
      '"code":-32602', 'params.pushNotificationConfig.url'],
    [call('message/send', { message: old, configuration: { pushNotificationConfig: hook } }),
      '"code":-32602', 'params.configuration.pushNotificationConfig.url'],
  ]
  for (const [answer, field, said] of rows) {
    const text = JSON.stringify(await answer)
    for (const part of [field, said, 'url must begin with https:']) assert.ok(text.includes(part), text)
  }
})
