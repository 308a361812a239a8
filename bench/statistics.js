/**
 * Numbers of several rounds in a few.
 */

/** The median of some numbers, and the two between which the middle half of them lies. */
export function spread(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other)
  return { median: at(sorted, 0.5), low: at(sorted, 0.25), high: at(sorted, 0.75) }
}

export function median(numbers) {
  return spread(numbers).median
}

/** The value at a part of the sorted numbers, between two of them where it lies there. */
export function at(sorted, part) {
  const place = part * (sorted.length - 1)
  const below = Math.floor(place)
  const above = Math.ceil(place)
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below)
}

/** A number with three digits that count. */
export function rounded(number) {
  return Number(number.toPrecision(3))
}
