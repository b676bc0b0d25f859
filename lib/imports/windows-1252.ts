// Node's own decoder takes it for Latin-1 in some versions, and loses the euro sign.
const FROM_80 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Text of Windows-1252, in which every byte is one character. */
export function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));
}
