import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openShop, whyNoBrowser, type Shop } from './shop-page.ts'

const say = async (page: Page, text: string) => {
  await page.getByRole('textbox').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}
const idle = (page: Page) => page.locator('main[data-status=ready]').waitFor()
const assistant = (page: Page) => page.locator('.message.assistant')
const bodyOf = (page: Page) => page.locator('main').innerText()
const everShown = (page: Page) => page.evaluate(() => window.shown)

describe.skipIf(whyNoBrowser)(`the chat in a browser${whyNoBrowser ? ` (skipped: ${whyNoBrowser})` : ''}`, () => {
  let shop: Shop
  const pages: Page[] = []
  const open = async () => {
    const page = await shop.open()
    pages.push(page)
    return page
  }

  beforeAll(async () => {
    shop = await openShop()
  }, 60_000)
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close()
  })
  afterAll(() => shop?.close())

  it('shows an answer while it is being given', async () => {
    const page = await open()
    shop.pacer.holdAt('language')
    await say(page, 'Who are you?')
    await page.getByText('I am a scripted clerk and no').waitFor()
    expect(await bodyOf(page)).not.toContain('language model')
    shop.pacer.letGo('language')
    await page.getByText('order 2 bags of oolong.').waitFor()
    await idle(page)
    expect(await assistant(page).count()).toBe(1)
  })

  it('shows a tool call and what came of it, over several turns', async () => {
    const page = await open()
    await say(page, 'Which teas are there?')
    await page.getByText('We have oolong, sencha, earl grey.').waitFor()
    await idle(page)
    await say(page, 'Who are you?')
    await page.getByText('order 2 bags of oolong.').waitFor()
    expect(await page.locator('[data-call=findTea]').innerText()).toContain('done')
    expect(await assistant(page).count()).toBe(2)
  })

  it('takes back a step that is tried again, says why, and leaves nothing of it', async () => {
    const page = await open()
    shop.pacer.holdAt('happens.')
    await say(page, 'When does it come?')
    await page.getByText('tomorrow, guaranteed,').waitFor()
    shop.pacer.holdAt('Usually')
    shop.pacer.letGo('happens.')
    await page.getByText('Trying again: It promised too much.').waitFor()
    expect(await bodyOf(page)).not.toContain('guaranteed')
    shop.pacer.letGo('Usually')
    await page.getByText('Usually within two days of your order.').waitFor()
    await idle(page)
    expect(await bodyOf(page)).not.toMatch(/guaranteed|Trying again/)
    await page.reload()
    await page.getByText('Usually within two days of your order.').waitFor()
    expect(await bodyOf(page)).not.toContain('guaranteed')
  })

  it('never shows what is redacted', async () => {
    const page = await open()
    await say(page, 'Who is your supplier?')
    await page.getByText('at the market.').waitFor()
    await idle(page)
    expect(await everShown(page)).toContain('We buy with the key')
    expect(await everShown(page)).not.toMatch(/AKIA|EXAMPLE/)
  })

  it('takes back a refused answer, says so, and knows nothing of it afterwards', async () => {
    const page = await open()
    shop.pacer.holdAt('till.')
    await say(page, 'Is there a discount?')
    await page.getByText('TEA-STAFF-50').waitFor()
    shop.pacer.letGo('till.')
    await page.getByRole('alert').getByText('Discounts for staff are not for sale.').waitFor()
    await idle(page)
    expect(await bodyOf(page)).not.toContain('TEA-STAFF')
    await page.reload()
    await page.getByRole('alert').getByText('Discounts for staff are not for sale.').waitFor()
    expect(await bodyOf(page)).not.toContain('TEA-STAFF')
    await say(page, 'Which teas are there?')
    await page.getByText('We have oolong, sencha, earl grey.').waitFor()
  })

  it('asks before it orders, and orders when it may', async () => {
    const page = await open()
    await say(page, 'Please order 2 bags of oolong')
    await page.getByRole('button', { name: 'Yes, order' }).click()
    await page.getByText('Done: 2 × oolong on its way.').waitFor()
    await idle(page)
    expect(await assistant(page).count()).toBe(1)
    expect(await page.locator('[data-call=placeOrder]').innerText()).toContain('done')
  })

  it('orders nothing when it may not', async () => {
    const page = await open()
    await say(page, 'Please order 2 bags of oolong')
    await page.getByRole('button', { name: 'No' }).click()
    await page.getByText('As you like: nothing was ordered.').waitFor()
    await idle(page)
    expect(await assistant(page).count()).toBe(1)
    expect(await page.locator('[data-call=placeOrder]').innerText()).toContain('not done')
  })

  it('still asks after a reload', async () => {
    const page = await open()
    await say(page, 'Please order 3 bags of sencha')
    await page.getByRole('button', { name: 'Yes, order' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Yes, order' }).click()
    await page.getByText('Done: 3 × sencha on its way.').waitFor()
    expect(await assistant(page).count()).toBe(1)
  })

  it('goes on with an answer after a reload in the middle of it', async () => {
    const page = await open()
    await say(page, 'Which teas are there?')
    await page.getByText('We have oolong').waitFor()
    await idle(page)
    shop.pacer.holdAt('language')
    await say(page, 'Who are you?')
    await page.getByText('I am a scripted clerk and no').waitFor()
    await page.reload()
    await page.getByText('I am a scripted clerk and no').waitFor()
    expect(await bodyOf(page)).not.toContain('language model')
    shop.pacer.letGo('language')
    await page.getByText('order 2 bags of oolong.').waitFor()
    await idle(page)
    expect(await assistant(page).count()).toBe(2)
    expect((await bodyOf(page)).match(/scripted clerk/g)).toHaveLength(1)
  })
})
