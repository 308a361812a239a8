/** The form by which a user approves that a tool runs. It is known by what it is, not by its look. */

export const approvalForm: Readonly<Record<string, unknown>> = Object.freeze({
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve', description: 'Whether it may run' } },
  required: ['approve'],
})

/** Whether a question asks for an approval: what is said of one counts once, and only where it was asked. */
export function asksApproval(question: object): boolean {
  return 'schema' in question && question.schema === approvalForm
}
