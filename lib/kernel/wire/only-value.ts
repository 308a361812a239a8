/**
 * The value of a header that has one, which a client or a proxy wrote twice: `a, a` is `a`. Empty elements
 * say nothing (RFC 9110 §5.6.1.2): `a,` is `a`, and `,` is ''. Different values stay a list, which no reader
 * takes for a value.
 */
export function onlyValue(list: string): string {
  if (!list.includes(',')) return list
  const [first = '', ...others] = list.split(',').map((value) => value.trim()).filter(Boolean)
  return others.every((value) => value === first) ? first : list
}
