import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Font } from 'fontkit';
import { perProcess } from '@/db/per-process';
import { type Language, PHRASES } from './phrases';
import type { PrintedInvoice } from './printed-invoice';
import { namesOf } from './printed-texts';
import { drawDocument } from './sheet';

const FACTUR_X = 'factur-x.xml';

/**
 * Returns a document as PDF/A-3a (tagged, with embedded fonts), which contains the e-invoice if there is one. The same
 * arguments give the same bytes.
 *
 * @param facturX XML of the e-invoice, in the profile EN 16931; null for an offer or an order confirmation
 */
export async function toPdf(printed: PrintedInvoice, facturX: string | null, now: Date): Promise<Uint8Array> {
  const title = `${namesOf(printed).title} ${printed.number}`;
  const document = await createPdf(title, printed.language, now);
  drawDocument(document, printed);
  const file = {
    name: FACTUR_X,
    type: 'text/xml',
    description: plain(title),
    creationDate: now,
    modifiedDate: now,
    relationship: 'Alternative',
  };
  if (facturX !== null) {
    document.file(Buffer.from(facturX), file);
    document.appendXML(facturXMetadata());
  }
  document.end();
  return buffer(document);
}

// pdfkit writes the title into the XMP metadata without escaping it, so the title must not contain markup.
const plain = (title: string) => title.replace(/[<>&]/g, ' ');

/** Creates an empty PDF/A-3a with the fonts `regular` and `bold`. */
export async function createPdf(title: string, language: Language, now: Date): Promise<PDFKit.PDFDocument> {
  const { default: PDFDocument } = await import('pdfkit');
  const { regular, bold } = await loadFonts();
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    subset: 'PDF/A-3a',
    pdfVersion: '1.7',
    tagged: true,
    lang: PHRASES[language].locale,
    displayTitle: true,
    bufferPages: true,
    // By default, pdfkit would start with Helvetica, which PDF/A does not allow.
    font: null as unknown as string,
    info: { Title: plain(title), Creator: 'W5T', Producer: 'W5T', CreationDate: now, ModDate: now },
  });
  document.registerFont('regular', regular as unknown as Buffer);
  document.registerFont('bold', bold as unknown as Buffer);
  return document.font('regular');
}

/** The XMP metadata by which programs find the e-invoice (Factur-X 1.07, section 6). */
function facturXMetadata(): string {
  const property = (name: string, description: string) => `<rdf:li rdf:parseType="Resource">
        <pdfaProperty:name>${name}</pdfaProperty:name>
        <pdfaProperty:valueType>Text</pdfaProperty:valueType>
        <pdfaProperty:category>external</pdfaProperty:category>
        <pdfaProperty:description>${description}</pdfaProperty:description>
      </rdf:li>`;
  return `<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
      xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
      xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
    <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
      <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
      <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
      <pdfaSchema:prefix>fx</pdfaSchema:prefix>
      <pdfaSchema:property><rdf:Seq>
      ${property('DocumentFileName', 'name of the embedded XML invoice file')}
      ${property('DocumentType', 'INVOICE')}
      ${property('Version', 'The actual version of the Factur-X XML schema')}
      ${property('ConformanceLevel', 'The conformance level of the embedded Factur-X data')}
      </rdf:Seq></pdfaSchema:property>
    </rdf:li></rdf:Bag></pdfaExtension:schemas>
  </rdf:Description>
  <rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
    <fx:DocumentType>INVOICE</fx:DocumentType>
    <fx:DocumentFileName>${FACTUR_X}</fx:DocumentFileName>
    <fx:Version>1.0</fx:Version>
    <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
  </rdf:Description>`;
}

interface Fonts {
  regular: Font;
  bold: Font;
}

const FOLDER = join(process.cwd(), 'node_modules/@expo-google-fonts/open-sans');

const cache = perProcess('document-fonts', () => ({ fonts: undefined as Promise<Fonts> | undefined }));

/**
 * Loads the fonts when the first document is made, and keeps them. Parsing them takes longer than making a document.
 */
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
