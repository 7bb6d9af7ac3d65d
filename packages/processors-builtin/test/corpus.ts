// The labelled corpus: sentences with one piece of personal data in each, or with none but something that looks like it.
// Made by faker from one seed, so that it is the same on every machine. The rules are those of the lists below.
import { allFakers, type Faker } from '@faker-js/faker'
import type { SensitiveKind } from '@lockstep/processors-builtin/redactor'

/** A sentence, and what is in it. */
export interface Sentence {
  readonly before: string
  readonly value: string
  readonly after: string
  /** What the value is; nothing for what only looks like something. */
  readonly kind: SensitiveKind | undefined
  /** Which rule made it. */
  readonly rule: string
}

type Rule = (faker: Faker) => string

const locales = ['en_US', 'en_GB', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'sv', 'pt_BR', 'ru', 'ja', 'ar', 'he'] as const

const grouped = (text: string, size: number, by: string) => text.match(new RegExp(`.{1,${size}}`, 'g'))!.join(by)

/** What is to be found. */
const positives: Readonly<Record<string, readonly [SensitiveKind, Rule]>> = {
  'e-mail address': ['email', faker => faker.internet.email()],
  'e-mail address with a plus': ['email', faker => faker.internet.email().replace('@', '+news@')],
  'card, in one piece': ['card', faker => faker.finance.creditCardNumber().replace(/\D/g, '')],
  'card, as printed': ['card', faker => faker.finance.creditCardNumber()],
  'card, in fours': ['card', faker => grouped(faker.finance.creditCardNumber('visa').replace(/\D/g, ''), 4, ' ')],
  'IBAN, in one piece': ['iban', faker => faker.finance.iban()],
  'IBAN, in fours': ['iban', faker => faker.finance.iban({ formatted: true }).trim()],
  'IPv4 address': ['ip', faker => faker.internet.ipv4()],
  'IPv6 address': ['ip', faker => faker.internet.ipv6()],
  URL: ['url', faker => faker.internet.url()],
  'URL of an image': ['url', faker => faker.image.url()],
  'phone, international': ['phone', faker => faker.phone.number({ style: 'international' })],
  'phone, national': ['phone', faker => faker.phone.number({ style: 'national' })],
  'phone, as people write it': ['phone', faker => faker.phone.number({ style: 'human' })],
  'JSON web token': ['jwt', faker => faker.internet.jwt()],
}

/** What only looks like it. */
const negatives: Readonly<Record<string, Rule>> = {
  UUID: faker => faker.string.uuid(),
  date: faker => faker.date.anytime().toISOString().slice(0, 10),
  'time stamp': faker => faker.date.anytime().toISOString(),
  'date in dots': faker => faker.date.anytime().toLocaleDateString('de'),
  'date in slashes': faker => faker.date.anytime().toLocaleDateString('en-GB'),
  price: faker => faker.commerce.price({ min: 1, max: 2_000_000, symbol: '$' }),
  'order number': faker => `#${faker.string.numeric({ length: { min: 5, max: 12 } })}`,
  'plain number': faker => faker.string.numeric({ length: { min: 3, max: 18 }, allowLeadingZeros: false }),
  commit: faker => faker.git.commitSha(),
  version: faker => faker.system.semver(),
  'hardware address': faker => faker.internet.mac(),
  ISBN: faker => faker.commerce.isbn(),
  coordinates: faker => `${faker.location.latitude()}, ${faker.location.longitude()}`,
  'street and postal code': faker => `${faker.location.streetAddress()}, ${faker.location.zipCode()}`,
  file: faker => faker.system.filePath(),
  colour: faker => faker.color.rgb(),
  'account number': faker => faker.finance.accountNumber(),
  'bitcoin address': faker => faker.finance.bitcoinAddress(),
  'vehicle number': faker => faker.vehicle.vin(),
  'user name': faker => `@${faker.internet.username()}`,
  person: faker => faker.person.fullName(),
  company: faker => faker.company.name(),
  'code with colons': faker => `${faker.hacker.noun().replace(/\W/g, '')}::${faker.hacker.verb().replace(/\W/g, '')}()`,
  'time of day': faker => faker.date.anytime().toISOString().slice(11, 19),
  measures: faker => `${faker.number.int(99)} x ${faker.number.int(99)} x ${faker.number.int(999)} mm`,
  sentence: faker => faker.lorem.sentence(),
}

const frames = [
  ['', ''],
  ['It is ', '.'],
  ['Write down: ', ', please.'],
  ['(', ')'],
  ['"', '"'],
  ['Here: ', '\nThanks'],
  ['**', '**'],
  ['{"value": "', '"}'],
  ['Old 12, new ', ' since May'],
  ['| a | ', ' | b |'],
] as const

/** The corpus: each rule in each locale, the given number of times. */
export function corpus(countPerRule: number): readonly Sentence[] {
  const sentences: Sentence[] = []
  for (const [index, locale] of locales.entries()) {
    const faker = allFakers[locale]
    faker.seed(20_261_121 + index)
    faker.setDefaultRefDate('2026-11-21T00:00:00Z')
    const add = (rule: string, make: Rule, kind: SensitiveKind | undefined) => {
      for (let count = 0; count < countPerRule; count++) {
        const value = valueOf(make, faker)
        const [before, after] = faker.helpers.arrayElement(frames)
        if (value !== undefined) sentences.push({ before, value, after, kind, rule })
      }
    }
    for (const [rule, [kind, make]] of Object.entries(positives)) add(rule, make, kind)
    for (const [rule, make] of Object.entries(negatives)) add(rule, make, undefined)
  }
  return sentences
}

/** Not every locale has every thing. */
function valueOf(make: Rule, faker: Faker): string | undefined {
  try {
    return make(faker)
  } catch {
    return undefined
  }
}
