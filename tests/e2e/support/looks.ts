import axe from 'axe-core';
import type { Frame, Page } from 'playwright';

/** The axe rules that check colours. They take half of the time that axe needs. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

const RULES = {
  all: {},
  colours: { runOnly: COLOUR_RULES },
  'all but colours': { rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])) },
};

/**
 * Runs axe on a page or frame. Most callers leave out the colours, which the accessibility tests check on each kind of
 * page.
 *
 * @returns each violation with its elements
 */
export async function violationsOf(
  page: Page | Frame,
  rules: keyof typeof RULES = 'all but colours',
): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...RULES[rules] });
  const found = await page.evaluate(`axe.run(document, ${options})`);
  const { violations } = found as { violations: { id: string; nodes: { target: string[] }[] }[] };
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}

/** Finds dates, amounts and badges that are cut off at the left or right. */
export async function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const vital = /\d{1,2} [A-Z][a-z]{2,3} \d{4}|[€$£¥]\d|\b[A-Z]{3}\s\d/;
    const found: string[] = [];
    const texts = document.createTreeWalker(document.querySelector('main') ?? document.body, 4);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const holder = text.parentElement;
      const words = text.textContent ?? '';
      if (!holder || (!vital.test(words) && !holder.closest('[class*="badge"]'))) continue;
      if (!holder.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const { left, right, width } = range.getBoundingClientRect();
      for (
        let box: Element | null = holder;
        width > 1 && box && box !== document.body;
        box = box.parentElement
      ) {
        if (['visible', 'auto', 'scroll'].includes(getComputedStyle(box).overflowX)) continue;
        const room = box.getBoundingClientRect();
        if (room.width > 1 && (right > room.right + 1 || left < room.left - 1)) {
          found.push(words.trim());
          break;
        }
      }
    }
    return found;
  });
}
