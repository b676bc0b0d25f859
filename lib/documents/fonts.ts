import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Font } from 'fontkit';
import { perProcess } from '@/db/per-process';

/** The fonts of documents. */
export interface Fonts {
  regular: Font;
  bold: Font;
}

const FOLDER = join(process.cwd(), 'node_modules/@expo-google-fonts/open-sans');

const cache = perProcess('document-fonts', () => ({ fonts: undefined as Promise<Fonts> | undefined }));

/** Loads the fonts at the first document. Parsing them again for each document would take longer than the document. */
export function loadFonts(): Promise<Fonts> {
  cache.fonts ??= readFonts();
  return cache.fonts;
}

async function readFonts(): Promise<Fonts> {
  const { create } = await import('fontkit');
  const read = (file: string) => {
    const font = create(readFileSync(join(FOLDER, file)));
    if (!('layout' in font)) throw new Error(`${file} is not a single font`);
    return font;
  };
  return {
    regular: read('400Regular/OpenSans_400Regular.ttf'),
    bold: read('700Bold/OpenSans_700Bold.ttf'),
  };
}
