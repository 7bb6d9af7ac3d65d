// The hotels, their prices, and the books: what a real desk would ask another service for.

export const hotels = ['Grand Hotel', 'Harbour Inn', 'Garden Lodge'] as const
export type Hotel = (typeof hotels)[number]

const pricesPerGuest: Readonly<Record<Hotel, number>> = { 'Grand Hotel': 120, 'Harbour Inn': 70, 'Garden Lodge': 85 }

/** The price of a night in euros. */
export const priceOf = (hotel: Hotel, guests: number): number => pricesPerGuest[hotel] * guests

/** The books of the hotels. The same key books once, however often it is given. */
export class Bookings {
  readonly #references = new Map<string, string>()

  book(key: string): string {
    const reference = this.#references.get(key) ?? `HB-${String(this.#references.size + 1).padStart(3, '0')}`
    this.#references.set(key, reference)
    return reference
  }

  get count(): number {
    return this.#references.size
  }
}
