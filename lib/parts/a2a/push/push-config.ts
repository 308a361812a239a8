/**
 * The push configurations of tasks: where the events of each are posted to, and in which dialect. One entry
 * of the store holds all of a task, so that their number is bounded even where several add at one time.
 * Secrets that a client has given are not shown again. Spec: A2A 1.0 §3.1.7 to §3.1.10.
 */
import { Fault } from '../../../kernel/define/fault.ts'
import { keyOf } from '../../../kernel/store/store.ts'
import {
  decoded, isText, among, optional, readStored, recordOf, warnOfUnreadable,
} from '../../../floors/shared/stored-value.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { formatJson, isStrings } from '../../../kernel/wire/json.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { A2aFault } from '../model/faults.ts'
import { FieldFault, wrongField } from '../model/fields.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Log } from '../../../kernel/define/log.ts'
import type { Entry, Store, StoreKey } from '../../../kernel/store/store.ts'
import type { DialectName } from '../model/dialect.ts'
import type { PushConfig, PushPage } from '../model/model.ts'

export interface KeptPushConfig extends PushConfig {
  readonly id: string
  readonly taskId: string
  /** In which it was registered, and its events are posted. */
  readonly dialect: DialectName
  /** Among those of its task; the one that replaces it has the same. */
  readonly position: number
  /** New each time, so that a replacement is noticed. */
  readonly stamp: string
  /** Of the request that it came with. */
  readonly traceparent?: string | undefined
}

export interface OwnedTask { readonly owner: string; readonly id: string }

const COLLECTION = 'push-configs'
const DEFAULT_ID = 'default'
const MAX_PER_TASK = 16
const MAX_ID_BYTES = 256
const MAX_TOKEN_BYTES = 1_024
const MAX_CREDENTIALS_BYTES = 4_096
const MAX_SCHEMES = 8
/** Besides its texts. */
const OWN_BYTES = 512
/** How often a change is tried again after a conflict. */
const MAX_ATTEMPTS = 16
const none: readonly never[] = Object.freeze([])

/** W3C Trace Context §3.2. */
const TRACE_PARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/
const TOKEN = /^[\w!#$%&'*+.^\x60|~-]{1,64}$/
/** What a header's value may be: RFC 9110 §5.5, without what is not ASCII. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const PAGE_TOKEN = /^[1-9]\d{0,14}$/

/** Throws a `FieldFault`, without secrets, for what cannot be kept or put into a header. */
export function checkPushConfig({ id, token, authentication }: PushConfig): void {
  // It becomes a segment of a path.
  const isId = id === undefined || (id !== '' && !/[/\\\0]/.test(id) && Buffer.byteLength(id) <= MAX_ID_BYTES)
  demand(isId, 'id', `must be 1 to ${MAX_ID_BYTES} bytes without '/', '\\' and NUL; leave it out to get one`)
  demandHeader(token, 'token', MAX_TOKEN_BYTES)
  if (authentication === undefined) return
  const { schemes, credentials } = authentication
  const isCount = schemes.length > 0 && schemes.length <= MAX_SCHEMES
  const areSchemes = isCount && schemes.every((scheme) => TOKEN.test(scheme))
  demand(areSchemes, 'authentication', 'must name a scheme of HTTP, as in Bearer')
  demandHeader(credentials, 'authentication.credentials', MAX_CREDENTIALS_BYTES)
}

/** The memory that one takes, roughly. */
export function pushConfigBytes({ id, taskId, url, token = '', authentication }: KeptPushConfig): number {
  const { schemes = none, credentials = '' } = authentication ?? {}
  const texts = [id, taskId, url, token, credentials, ...schemes]
  return OWN_BYTES + texts.reduce((sum, text) => sum + text.length * 2, 0)
}

/** Without token and credentials. */
export function shownPushConfig({ id, taskId, url, authentication }: KeptPushConfig): PushConfig {
  const shown = authentication && { schemes: authentication.schemes, credentials: undefined }
  return { id, taskId, url, token: undefined, authentication: shown }
}

/**
 * The one of that id, or the first where none is named; `default` is also the one that was given no id, as
 * clients of 0.3 call it. Undefined where there is none.
 */
function find(configs: readonly KeptPushConfig[], id: string | undefined): KeptPushConfig | undefined {
  if (id === undefined) return configs[0]
  const named = configs.find((config) => config.id === id)
  return named ?? (id === DEFAULT_ID ? configs.find((config) => config.id === config.taskId) : undefined)
}

/** The same. Throws `TASK_NOT_FOUND` where there is none. */
export function pushConfigOf(configs: readonly KeptPushConfig[], id: string | undefined): KeptPushConfig {
  const found = find(configs, id)
  if (found !== undefined) return found
  throw new A2aFault('TASK_NOT_FOUND', id === undefined ? 'The task has no push configuration'
    : 'The task has no push configuration of that id; list them to see which it has')
}

/** One page of configurations. Throws `Fault('invalid')` for a token that no page has given. */
export function pageOfPushConfigs(
  configs: readonly KeptPushConfig[], size: number | undefined, token: string,
): PushPage {
  if (token !== '' && !PAGE_TOKEN.test(token)) {
    throw wrongField('params', 'pageToken', 'must be the nextPageToken of a page before it')
  }
  // By position, so that nothing is lost when the last of the page before is gone.
  const left = token === '' ? configs : configs.filter(({ position }) => position > Number(token))
  const page = size === undefined || size === 0 ? left : left.slice(0, size)
  const next = page.length === left.length ? undefined : page.at(-1)
  return { configs: page.map(shownPushConfig), nextPageToken: next === undefined ? '' : `${next.position}` }
}

export class PushConfigs {
  readonly #store: Store
  readonly #log: Log | undefined

  /** `log` gets what cannot be read. */
  constructor(store: Store, log?: Log) {
    this.#store = store
    this.#log = log
  }

  /** All of a task, in the order of their registration. */
  async of(task: OwnedTask): Promise<readonly KeptPushConfig[]> {
    return this.#configsIn(await this.#store.read(keyOfTask(task)))
  }

  /**
   * Keeps one, and replaces that of the same id; all of the task for `keepMs` from now. Synchronous where the
   * store is, so that nothing of a task which is just beginning is missed. Throws `Fault('too-large')` for
   * one too many.
   */
  put(
    task: OwnedTask, config: PushConfig, dialect: DialectName, keepMs: number, trace?: string,
  ): MaybePromise<KeptPushConfig> {
    const { id = randomUuid(), url, token, authentication } = config
    const stamp = randomUuid()
    const traceparent = TRACE_PARENT.test(trace ?? '') ? trace : undefined
    const all = this.#change(task, keepMs, (configs) => {
      const at = configs.findIndex((known) => known.id === id)
      const position = configs[at]?.position ?? (configs.at(-1)?.position ?? 0) + 1
      const kept = { id, taskId: task.id, url, token, authentication, dialect, position, stamp, traceparent }
      if (at >= 0) return configs.with(at, kept)
      if (configs.length >= MAX_PER_TASK) throw tooMany()
      return [...configs, kept]
    })
    return andThen(all, (configs) => pushConfigOf(configs, id))
  }

  /** Rejects with `Fault('too-large')` where one of that id would be one too many. */
  async requireRoom(task: OwnedTask, id: string): Promise<void> {
    const configs = await this.of(task)
    if (configs.length >= MAX_PER_TASK && !configs.some((config) => config.id === id)) throw tooMany()
  }

  /** Removes one, or the first. Resolves to it; undefined where there is none. */
  async remove(task: OwnedTask, id: string | undefined, keepMs: number): Promise<KeptPushConfig | undefined> {
    let gone: KeptPushConfig | undefined
    await this.#change(task, keepMs, (configs) => {
      gone = find(configs, id)
      return gone === undefined ? configs : configs.filter((config) => config !== gone)
    })
    return gone
  }

  async removeAll(task: OwnedTask): Promise<void> {
    await this.#store.remove(keyOfTask(task), 'any')
  }

  /** Keeps all of a task for so long from now. Resolves to them. */
  async keepFor(task: OwnedTask, keepMs: number): Promise<readonly KeptPushConfig[]> {
    return this.#change(task, keepMs, (configs) => [...configs])
  }

  /** Those that can be read. */
  #configsIn(entry: Entry | undefined): readonly KeptPushConfig[] {
    const all = readStored(COLLECTION, entry, decoded<readonly unknown[]>(Array.isArray), this.#log) ?? none
    const configs = all.filter(isKept)
    if (entry !== undefined && configs.length < all.length) warnOfUnreadable(COLLECTION, entry, this.#log)
    return configs
  }

  #change(
    task: OwnedTask, keepMs: number,
    change: (configs: readonly KeptPushConfig[]) => readonly KeptPushConfig[], attempts = MAX_ATTEMPTS,
  ): MaybePromise<readonly KeptPushConfig[]> {
    if (attempts === 0) {
      throw new Fault('busy', 'The push configurations of this task change too fast; try again later')
    }
    const key = keyOfTask(task)
    return andThen(this.#store.read(key), (entry) => {
      const before = this.#configsIn(entry)
      const after = change(before)
      if (after === before || (after.length === 0 && entry === undefined)) return after
      const version = entry?.version ?? 0
      const done: MaybePromise<boolean | number | undefined> = after.length === 0
        ? this.#store.remove(key, version)
        : this.#store.write(key, formatJson(after), keepMs, version)
      return andThen(done, (result) => (
        result === undefined || result === false ? this.#change(task, keepMs, change, attempts - 1) : after
      ))
    })
  }
}

function keyOfTask({ owner, id }: OwnedTask): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

const isKept = recordOf<KeptPushConfig>({
  id: isText, taskId: isText, url: (value) => isText(value) && URL.canParse(value), token: optional(isText),
  authentication: optional(recordOf<NonNullable<PushConfig['authentication']>>({
    schemes: isStrings, credentials: optional(isText),
  })),
  dialect: among('plain', '0.3', '1.0'), position: Number.isSafeInteger, stamp: isText,
  traceparent: optional(isText),
})

function tooMany(): Fault {
  return new Fault('too-large', `A task has at most ${MAX_PER_TASK} push configurations; delete one of them`)
}

function demandHeader(text: string | undefined, member: string, maxBytes: number): void {
  const isOne = text === undefined || (text.length <= maxBytes && HEADER_VALUE.test(text))
  demand(isOne, member, `must be 1 to ${maxBytes} visible ASCII characters`)
}

function demand(isMet: boolean, member: string, what: string): void {
  if (!isMet) throw new FieldFault(member, what)
}
