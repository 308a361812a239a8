import assert from 'node:assert/strict'
import test from 'node:test'
import { CounterFamily, formatSamples, HistogramFamily } from '../../../lib/parts/metrics/metrics.ts'

test('a counter has one line for each set of label values', () => {
  const counter = new CounterFamily({ name: 'cups_total', help: 'Cups.' }, ['kind', 'size'], 9)
  for (const values of [['tea', 's'], ['tea', 'l'], ['tea', 's']]) counter.add(values)
  assert.equal(counter.format(), '# HELP cups_total Cups.\n# TYPE cups_total counter\n'
    + 'cups_total{kind="tea",size="s"} 2\ncups_total{kind="tea",size="l"} 1\n')
})

test('a histogram counts up to each bound, the bound included', () => {
  const histogram = new HistogramFamily({ name: 'h', help: 'H.' }, ['of'], [0.5, 1, 2], 9)
  for (const value of [0.5, 0.75, 1, 2.5]) histogram.observe(['a'], value)
  assert.equal(histogram.format(), '# HELP h H.\n# TYPE h histogram\n'
    + 'h_bucket{of="a",le="0.5"} 1\nh_bucket{of="a",le="1"} 3\nh_bucket{of="a",le="2"} 3\n'
    + 'h_bucket{of="a",le="+Inf"} 4\nh_sum{of="a"} 4.75\nh_count{of="a"} 4\n')
})

test('a histogram without labels has those of its buckets alone', () => {
  const histogram = new HistogramFamily({ name: 'h', help: 'H.' }, [], [1], 9)
  histogram.observe([], 2)
  assert.equal(histogram.format().split('\n').slice(2).join('\n'),
    'h_bucket{le="1"} 0\nh_bucket{le="+Inf"} 1\nh_sum 2\nh_count 1\n')
})

test('what stands in labels and in help cannot break out of them', () => {
  const labels = ['a "b" \\ c\nd']
  const text = formatSamples({ name: 'g', help: 'a\\b\nc "d"' }, 'gauge', ['of'], [{ labels, value: 1.5 }])
  assert.equal(text, '# HELP g a\\\\b\\nc "d"\n# TYPE g gauge\ng{of="a \\"b\\" \\\\ c\\nd"} 1.5\n')
})

test('a family has as many series as it may have, and one for all others', () => {
  const counter = new CounterFamily({ name: 'c_total', help: 'C.' }, ['a', 'b'], 3)
  for (let at = 0; at < 100; at += 1) counter.add([`${at}`, 'x'])
  counter.add(['1', 'x'])
  assert.deepEqual(counter.format().trim().split('\n').slice(2), [
    'c_total{a="0",b="x"} 1', 'c_total{a="1",b="x"} 2', 'c_total{a="2",b="x"} 1',
    'c_total{a="other",b="other"} 97',
  ])
})
