// Numbers that look random and are the same in every run: the same question gives the same answer.

/** A number from 0 to 1 for a key, by FNV-1a and a final mix. */
export function chance(...key) {
  let hash = 0x811c9dc5
  for (const character of key.join('|')) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}
