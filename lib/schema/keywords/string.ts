/**
 * Keywords for what is in a string: `pattern`, `format`, and in draft-07 its content (2020-12 validation
 * §6.3.3, §7; draft-07 validation §8).
 */
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { formats } from '../format.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { rule } from '../rule.ts'

type Test = (text: string) => boolean

const text = (site: Site, test: Test, message: string, expected: string): Check => {
  const fault = site.fault(message, expected)
  return (value, run) => typeof value !== 'string' || test(value) || run.fails(fault, value)
}

const formatted = (site: Site, name: string): Check | undefined => {
  const test = formats.get(name)
  return test && text(site, test, `must be a valid ${name}`, name)
}

const isBase64: Test = (value) => /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value)
const isJson: Test = (value) => {
  try {
    return JSON.parse(value) !== undefined
  } catch {
    return false
  }
}

export const pattern: Rule = rule(kind.regex, (site, source) =>
  text(site, patternAt(site, source), `must match the pattern ${source}`, source))

/** Asserted where the option `formats` is set. */
export const format: Rule = rule(kind.string, (site, name) =>
  site.limits.formats ? formatted(site, name) : undefined)
/** Asserted always. */
export const formatAssertion: Rule = rule(kind.string, formatted)

// In draft-07 these are asserted like `format`; they have been annotations since then.
export const contentEncoding: Rule = rule(kind.string, (site, name) =>
  site.limits.formats && name === 'base64' ? text(site, isBase64, 'must be base64', name) : undefined)
export const contentMediaType: Rule = rule(kind.string, (site, name) => {
  const encoded = site.beside('contentEncoding') === 'base64'
  const test: Test = (value) => encoded ? !isBase64(value) || isJson(atob(value)) : isJson(value)
  const asserted = site.limits.formats && name === 'application/json'
  return asserted ? text(site, test, 'must be JSON', name) : undefined
})
