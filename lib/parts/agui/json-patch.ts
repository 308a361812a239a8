/** Checks that a value is a JSON Patch. Whether it fits a document is not looked at. RFC 6902, RFC 6901. */
import { isRecord } from '../../kernel/define/content.ts'
import { show } from '../../kernel/define/validate.ts'

/** The members that an operation needs besides `path`. */
const needs: ReadonlyMap<unknown, 'value' | 'from' | undefined> = new Map([
  ['add', 'value'], ['remove', undefined], ['replace', 'value'], ['move', 'from'], ['copy', 'from'],
  ['test', 'value'],
])

/** What is wrong with a JSON Patch, as the end of a sentence; undefined: nothing. */
export function patchFault(patch: unknown): string | undefined {
  if (!Array.isArray(patch)) return `is ${show(patch)}, and no list of operations`
  for (const [index, operation] of patch.entries()) {
    const why = operationFault(operation)
    if (why !== undefined) return `has an operation ${index} ${why}`
  }
  return undefined
}

function operationFault(operation: unknown): string | undefined {
  if (!isRecord(operation)) return 'that is no object'
  const { op, path, from } = operation
  if (!needs.has(op)) return `with the op ${show(op)}; write one of ${[...needs.keys()].join(', ')}`
  if (!isPointer(path)) return `with the path ${show(path)}; write a JSON Pointer, as in '/cups/0'`
  const needed = needs.get(op)
  if (needed === 'value' && operation['value'] === undefined) return `that needs a value`
  if (needed !== 'from') return undefined
  if (!isPointer(from)) return `with from ${show(from)}; write a JSON Pointer, as in '/cups/0'`
  return op === 'move' && path.startsWith(`${from}/`) ? 'that moves a value into itself' : undefined
}

function isPointer(value: unknown): value is string {
  return typeof value === 'string' && /^(?:\/(?:[^/~]|~[01])*)*$/.test(value)
}
