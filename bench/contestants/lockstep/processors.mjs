// Lockstep's processors that pass chunks on, and those that read all messages.
export const passing = ({ processors, async }) =>
  Array.from({ length: processors }, (_, index) => ({
    id: `pass-${index}`,
    processOutputStream: async ? async ({ part }) => part : ({ part }) => part,
  }))

export const reading = ({ readers }, seen) =>
  Array.from({ length: readers }, (_, index) => ({
    id: `read-${index}`,
    processInputStep: ({ messages }) => seen.read(messages),
  }))
