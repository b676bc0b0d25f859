import type { Page } from 'playwright';

/** Dates, amounts and badges that a page shows only in part, or cuts off where nothing scrolls. */
export async function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const vital = /\d{1,2} [A-Z][a-z]{2,3} \d{4}|[€$£¥]\d|\b[A-Z]{3}\s\d/;
    const found: string[] = [];
    const texts = document.createTreeWalker(document.querySelector('main') ?? document.body, 4);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const holder = text.parentElement;
      const words = text.textContent ?? '';
      if (!holder || (!vital.test(words) && !holder.closest('[class*="Badge-label"]'))) continue;
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
