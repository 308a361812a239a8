/** IP addresses as numbers of 16 bits. RFC 4291 §2.2 (text). */

/** The two of an IPv4 address. */
export function ipv4GroupsOf(address: string): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [a << 8 | b, c << 8 | d]
}

/** The eight groups of 16 bits of an IPv6 address without a zone; an IPv4 address at its end is two. */
export function ipv6GroupsOf(address: string): readonly number[] {
  const groups = (half: string): readonly number[] => half === '' ? []
    : half.split(':').flatMap((group) => {
      return group.includes('.') ? ipv4GroupsOf(group) : Number.parseInt(group, 16)
    })
  const [left = [], right = []] = address.split('::').map(groups)
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
