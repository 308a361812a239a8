/**
 * What a tool returned, in all its forms, as a result in its normal form, and checked by its `outputSchema`.
 * A generator's pieces are sent as progress, and the result is made of them. How a tool is called is in
 * `call-tool.ts`.
 */
import { summarize } from '../schema/compile.ts'
import { andThen, isThenable } from '../util/thenable.ts'
import { formatJson, jsonCopy } from '../wire/json.ts'
import { blockOf, contentOf, isContent, isPlainText, isRecord, isTyped, text, textOf } from './content.ts'
import {
  ContentBuilder, foreignTo, isAsyncIterable, isIterable, jsonOf, readPieces, withoutToJson,
} from './output.ts'
import { isBareResult, resultMembers } from './tool.ts'
import { isPlain, rejectUnknown, show } from './validate.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Checked, Contract } from '../schema/standard.ts'
import type { Content, ContentInput } from './content.ts'
import type { LiveCall } from './live-call.ts'
import type { Tool, ToolResult, ToolResultInput } from './tool.ts'

/** The normal form of what `run` returned. Throws for what JSON cannot represent, or an unknown block. */
export function toolResultOf(output: unknown): ToolResult {
  if (typeof output === 'string') return { content: [text(output)] }
  if (output === undefined) return { content: [] }
  if (isContent(output)) return { content: [contentOf(output)] }
  if (isContentList(output)) return { content: output.map(blockOf) }
  if (isWhole(output)) return wholeOf(output)
  const json = jsonOf('A tool', output)
  const value = withoutToJson(output, json)
  // A date is a text like any other.
  return typeof value === 'string' ? { content: [text(value)] }
    : { content: [text(json)], structuredContent: value }
}

type Part = string | ContentInput

/** Whether a list is content: it has a block, and what else is in it is text or names a type. */
function isContentList(output: unknown): output is readonly Part[] {
  return Array.isArray(output) && output.some(isContent) && output.every(isPart)
}

function isPart(item: unknown): boolean {
  return typeof item === 'string' || isTyped(item)
}

/**
 * Whether an object is a whole result: it has structured content, or a list with a block in it, or it has
 * nothing but the members of a result and is an error, or its content is texts and what names a type. Any
 * other object is a JSON value.
 */
function isWhole(output: unknown): output is ToolResultInput {
  if (!isRecord(output)) return false
  const { content, isError } = output
  if (Object.hasOwn(output, 'structuredContent') || (isError === true && isBareResult(output))) return true
  if (!Array.isArray(content)) return false
  return content.some(isContent) || (content.every(isPart) && isBareResult(output))
}

function wholeOf(output: ToolResultInput): ToolResult {
  if (!isBareResult(output) && isPlain(output)) {
    rejectUnknown('The result of a tool', output, Object.keys(resultMembers))
  }
  const { content, structuredContent, isError, _meta } = output
  if ((content !== undefined || !Object.hasOwn(output, 'structuredContent')) && !Array.isArray(content)) {
    throw new TypeError(`The result of a tool has content ${show(content)}; write a list, as in ['Done.']`)
  }
  if (isError !== undefined && typeof isError !== 'boolean') {
    throw new TypeError(`The result of a tool has isError ${show(isError)}; write true or false`)
  }
  if (_meta !== undefined && !isRecord(_meta)) {
    throw new TypeError(`The result of a tool has _meta ${show(_meta)}; write an object, or leave it out`)
  }
  const what = foreignTo(structuredContent)
  if (what !== undefined) throw new TypeError(`A tool returned ${what}`)
  return {
    content: content === undefined ? [text(jsonOf('A tool', structuredContent))] : content.map(blockOf),
    ...structuredContent !== undefined && { structuredContent: withoutToJson(structuredContent) },
    ...isError !== undefined && { isError },
    ..._meta !== undefined && { _meta },
  }
}

/**
 * A result checked by the `outputSchema` of its tool. A library of schemas may change it, and JSON may write
 * it otherwise, a date for one. A text alone is the value of a schema of texts. Throws where it does not fit:
 * that is the tool's defect, not the client's.
 */
export function conforming(
  tool: Tool, output: Contract, result: ToolResult, maxSteps: number,
): MaybePromise<ToolResult> {
  const { structuredContent } = result
  const given = structuredContent === undefined ? loneText(result) : structuredContent
  const isInstance = isOfClass(given)
  const checked = output.check(isInstance ? jsonCopy(given) : given, maxSteps)
  const isFine = !isThenable(checked) && checked.errors.length === 0
  if (isFine && checked.value === structuredContent) return result
  return andThen(checked, (first) => {
    if (isInstance || !isObject(given) || first.errors.length === 0) return checkedResult(tool, result, first)
    return andThen(output.check(jsonCopy(given), maxSteps), (last) => checkedResult(tool, result, last))
  })
}

function checkedResult(tool: Tool, result: ToolResult, checked: Checked): ToolResult {
  if (checked.errors.length > 0) {
    throw new Error(`The result of ${tool.name} does not match its outputSchema: ${summarize(checked)}`)
  }
  return checked.value === result.structuredContent ? result : withValue(result, checked.value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What such an object inherits is not sent. */
function isOfClass(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value) && !isPlain(value)
}

function loneText({ content }: ToolResult): string | undefined {
  const [block] = content
  return content.length === 1 && block?.type === 'text' ? block.text : undefined
}

/** The result with another value; a text that was the JSON of the old one is that of the new one. */
function withValue(result: ToolResult, value: unknown): ToolResult {
  const { content: [first, ...rest], structuredContent } = result
  const json = jsonOf('A tool', value)
  const isItsText = first?.type === 'text' && structuredContent !== undefined
    && first.text === formatJson(structuredContent)
  const content = isItsText ? [text(json), ...rest] : result.content
  return { ...result, content, structuredContent: withoutToJson(value, json) }
}

/**
 * What a tool returned piece by piece, as if it had returned it whole. Undefined for any other output. Of
 * what is not asynchronous only generators and their like count: a list or a set is a value. Rejects with
 * `Fault('too-large')` where texts and blocks exceed `maxBytes`.
 */
export function outputOfPieces(
  output: unknown, call: LiveCall, maxBytes: number,
): Promise<unknown> | undefined {
  const pieces = isAsyncIterable(output) ? output[Symbol.asyncIterator]()
    : isIterable(output) && 'next' in output ? output[Symbol.iterator]() : undefined
  if (pieces === undefined) return undefined
  const gathering = new ToolPieces(call, maxBytes)
  return readPieces(pieces, call, gathering).then(() => gathering.output)
}

class ToolPieces extends ContentBuilder {
  readonly #call: LiveCall
  #count = 0
  /** What was returned, or else the last piece that is neither text nor a block. */
  #value: unknown

  constructor(call: LiveCall, maxBytes: number) {
    super('result', maxBytes)
    this.#call = call
  }

  take(piece: unknown, isEnd: boolean): void {
    if (isEnd) {
      if (piece !== undefined) this.#value = piece
      const rest = this.end()
      if (rest !== undefined) this.#report([rest])
      return
    }
    if (piece === undefined || piece === '') return
    const block = typeof piece === 'string' ? text(piece) : isContent(piece) ? contentOf(piece) : undefined
    const before = this.size
    let shown: readonly Content[] = []
    if (block === undefined) this.#value = piece
    else if (!isPlainText(block) || block.text !== '') shown = this.addBlock(block)
    this.#call.hold(this.size - before)
    this.#report(shown)
  }

  #report(shown: readonly Content[]): void {
    this.#call.progress(++this.#count, undefined, textOf(shown) || undefined)
  }

  /** As a tool without pieces would return it. */
  get output(): unknown {
    if (this.#value !== undefined) return this.#value
    const [first, ...rest] = this.content
    if (first === undefined) return undefined
    return rest.length === 0 && isPlainText(first) ? first.text : this.content
  }
}
