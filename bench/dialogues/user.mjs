// The simulated user: says what the real one said, answers what is asked, and looks at what is to be confirmed.

/** The slots that a message asks for; each question carries its slot in angle brackets. */
export const askedIn = message => [...message.matchAll(/<(\w+)>/g)].map(([, slot]) => slot)

/** A user of one episode. */
export class User {
  #episode
  #turn = 0
  /** Everything said so far, with its last value. */
  said = {}

  constructor(episode) {
    this.#episode = episode
    Object.assign(this.said, episode.known)
  }

  /** What the user says to a message; `shown` is what the other side would do, as a confirmation shows it. */
  answer(message, shown) {
    const { gold, script, intent } = this.#episode
    const answer = { ...script[this.#turn++] }
    for (const slot of askedIn(message)) {
      if (slot !== 'confirmed' && Object.hasOwn(gold, slot)) answer[slot] ??= this.#finally(slot)
    }
    if (askedIn(message).includes('confirmed')) {
      const wrong = Object.keys(gold).filter(slot => (shown[slot] ?? intent.optional_slots[slot]) !== gold[slot])
      for (const slot of wrong) answer[slot] = gold[slot]
      for (const slot of Object.keys(answer)) answer[slot] = gold[slot]
      answer.confirmed = Object.keys(answer).every(slot => shown[slot] === gold[slot])
      // Whoever is asked to confirm has the last word: nothing changes after it.
      this.#turn = script.length
    }
    Object.assign(this.said, answer)
    return answer
  }

  /** The value that holds in the end, unless it is said otherwise first. */
  #finally(slot) {
    const { gold, script } = this.#episode
    return script.slice(this.#turn).some(later => Object.hasOwn(later, slot)) && Object.hasOwn(this.said, slot)
      ? this.said[slot]
      : gold[slot]
  }
}

/** What was said, as text. */
export const wordsOf = said =>
  Object.entries(said)
    .map(([slot, value]) => `${slot.replaceAll('_', ' ')}: ${value}.`)
    .join(' ') || 'Go on.'
