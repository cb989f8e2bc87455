/** Colours of buttons: what is written on them must be readable (WCAG 2.2 section 1.4.3). */
export interface Accent {
  background: string;
  text: string;
}

const standard = "#2f5fd0";

/** From the setting of an instance such as `#2f6fed`; anything else is replaced. */
export function accentOf(setting: string): Accent {
  const background = /^#[0-9a-fA-F]{6}$/.test(setting) ? setting.toLowerCase() : standard;
  const light = luminance(background);
  // Contrast of white is 1.05 / (L + 0.05), of near-black (L + 0.05) / 0.059.
  return { background, text: 1.05 / (light + 0.05) >= 4.5 ? "#ffffff" : "#14161a" };
}

/** Relative luminance (WCAG 2.2, definition). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
