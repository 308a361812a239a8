/** What is read of the bodies that ask agents, against what OpenAPI says of them. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { usualBounds } from '../../lib/floors/bounds/parse-json.ts'
import { PassedOver } from '../../lib/floors/chat/passed-over.ts'
import { Fault } from '../../lib/kernel/define/fault.ts'
import { aguiOperations } from '../../lib/parts/agui/openapi-operations.ts'
import { decodeRunInput } from '../../lib/parts/agui/run-input.ts'
import { httpComponents } from '../../lib/parts/http/openapi-components.ts'
import { decodeQuery } from '../../lib/parts/http/query.ts'
import { decodeChat } from '../../lib/parts/openai/chat-request.ts'
import { openaiOperations } from '../../lib/parts/openai/openapi-operations.ts'
import { decodeCompaction, decodeRequest } from '../../lib/parts/openai/responses/response-input.ts'
import { decodeChatInput } from '../../lib/parts/ui-stream/chat-input.ts'
import { uiOperations } from '../../lib/parts/ui-stream/openapi-operations.ts'

type Json = Readonly<Record<string, unknown>>

/** A body, and the names of what is read of it though nobody is to write it. */
interface Body {
  readonly decode: (body: unknown) => unknown
  readonly good: Json
  readonly unsaid?: readonly string[]
  /** Members of which another type counts as none. */
  readonly lenient?: readonly string[]
}

const passed = new PassedOver()
const onBoth = ['logprobs', 'top_logprobs', 'include', 'moderation']

const bodies: Readonly<Record<string, Body>> = {
  Query: {
    decode: (body) => decodeQuery(body, undefined), good: { query: 'Hi' }, unsaid: ['threadId'],
  },
  ChatRequest: {
    decode: (body) => decodeChat(body, passed, usualBounds),
    good: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    unsaid: [...onBoth, 'functions', 'function_call', 'n', 'modalities', 'audio', 'web_search_options'],
  },
  ResponseRequest: {
    decode: decodeRequest, good: { model: 'm', input: 'Hi' },
    unsaid: [...onBoth, 'conversation', 'prompt', 'response_format', 'prompt_cache_options'],
    lenient: ['user', 'safety_identifier', 'prompt_cache_key'],
  },
  CompactionRequest: { decode: decodeCompaction, good: { model: 'm', input: 'Hi' } },
  RunAgentInput: {
    decode: (body) => decodeRunInput(body, passed, usualBounds),
    good: { threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hi' }] },
    lenient: ['protocolVersion'],
  },
  UIChat: {
    decode: (body) => decodeChatInput(body, passed),
    good: { messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] },
    unsaid: ['trigger', 'messageId'], lenient: ['id'],
  },
}

const components = [
  httpComponents, openaiOperations.components, aguiOperations.components, uiOperations.components,
]
const schemas: Json = Object.assign({}, ...components.map((one) => one.schemas)) as Json

function membersOf(name: string): readonly (readonly [member: string, schema: Json])[] {
  const { properties } = schemas[name] as { readonly properties: Readonly<Record<string, Json>> }
  return Object.entries(properties)
}

test('every member that is read of a body is described', () => {
  const undescribed: string[] = []
  for (const [name, { decode, good, unsaid = [] }] of Object.entries(bodies)) {
    const read = new Set<string>()
    const note = (member: string | symbol): void => { if (typeof member === 'string') read.add(member) }
    decode(new Proxy(good, {
      get(target, member, receiver): unknown {
        note(member)
        return Reflect.get(target, member, receiver)
      },
      has(target, member) {
        note(member)
        return Reflect.has(target, member)
      },
      getOwnPropertyDescriptor(target, member) {
        note(member)
        return Reflect.getOwnPropertyDescriptor(target, member)
      },
    }))
    const described = new Set(membersOf(name).map(([member]) => member))
    const unknown = [...read].filter((one) => !described.has(one) && !unsaid.includes(one))
    undescribed.push(...unknown.map((one) => `${name}.${one}`))
    assert.deepEqual(unsaid.filter((one) => !read.has(one)), [], `${name} reads these no more`)
  }
  assert.deepEqual(undescribed, [])
})

test('a member of a body that is not of its type is refused by its name', () => {
  for (const [name, { decode, good, lenient = [] }] of Object.entries(bodies)) {
    assert.ok(decode(good))
    for (const [member, { type }] of membersOf(name)) {
      if (type === undefined) continue
      const body = { ...good, [member]: type === 'integer' ? 'seven' : 7 }
      if (lenient.includes(member)) {
        assert.ok(decode(body))
        continue
      }
      assert.throws(() => decode(body), (error) => {
        assert.ok(error instanceof Fault && error.kind === 'invalid')
        assert.ok(error.message.includes(member), `${name}.${member}: ${error.message}`)
        return true
      }, `${name}.${member}`)
    }
  }
})
