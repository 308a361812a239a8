/** What `triport --stdio` serves for a test: an agent that prints what it says. */
import { Agent } from 'praisonai'

console.log('printed by the import')

export default new Agent({ name: 'Helper', instructions: 'Help.' })
