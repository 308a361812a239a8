import assert from 'node:assert/strict'
import test from 'node:test'
import { Floors } from '../../../lib/kernel/server/floors.ts'
import type { Service } from '../../../lib/kernel/run/service.ts'

/** A service of which only its floors are used. */
function serviceOf(floors: Floors): Service {
  const service: Pick<Service, 'use'> = { use: (make) => floors.use(make, service as Service) }
  return service as Service
}

test('a floor is made once for a server, and ends before those that it has asked for', async () => {
  const steps: string[] = []
  const floor = (name: string): object => ({
    handOver: () => { steps.push(`${name} hands over`) },
    cancel: () => { steps.push(`${name} cancels`) },
    release: async () => { steps.push(`${name} is released`) },
  })
  const makeLower = (): object => floor('lower')
  const makeUpper = ({ use }: Service): object => {
    use(makeLower)
    return floor('upper')
  }
  const floors = new Floors()
  const { use } = serviceOf(floors)
  const upper = use(makeUpper)
  assert.equal(use(makeUpper), upper)
  assert.equal(floors.all.length, 2)
  floors.handOver()
  await floors.cancel()
  await floors.release()
  assert.deepEqual(steps, [
    'lower hands over', 'upper hands over', 'upper cancels', 'lower cancels',
    'upper is released', 'lower is released',
  ])
})

test('floors that need each other are named', () => {
  function makeOne({ use }: Service): object { return use(makeTwo) }
  function makeTwo({ use }: Service): object { return use(makeOne) }
  assert.throws(() => serviceOf(new Floors()).use(makeOne), {
    name: 'TypeError',
    message: 'The floors makeOne, makeTwo need each other; one of them has to be made first',
  })
})

test('a floor that could not be made is made when it is asked for again', () => {
  let tries = 0
  const make = (): object => {
    if (++tries === 1) throw new Error('not yet')
    return { tries }
  }
  const floors = new Floors()
  const { use } = serviceOf(floors)
  assert.throws(() => use(make), /not yet/)
  assert.deepEqual(floors.all, [])
  assert.deepEqual(use(make), { tries: 2 })
})
