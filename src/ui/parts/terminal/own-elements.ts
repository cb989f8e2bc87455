/**
 * xterm adds <style> elements and style attributes, which the policy of the pages refuses. The same rules are allowed as
 * style sheets and properties that a script makes. While a terminal is on the page, the document therefore makes `style`
 * elements that fill such a sheet, and `span` elements that set a style attribute property by property. Returns what ends it.
 */
export function ownElements(): () => void {
  terminals += 1;
  document.createElement = createElement as typeof document.createElement;
  return () => {
    terminals -= 1;
    if (terminals === 0) Reflect.deleteProperty(document, "createElement");
  };
}

let terminals = 0;

function createElement(tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === "style") return sheetElement();
  const element = Document.prototype.createElement.call(document, tag, options);
  if (tag === "span") element.setAttribute = setAttribute;
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** Stands for a <style> element: its text becomes a sheet of the document, until it is removed. */
function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = Document.prototype.createElement.call(document, "i");
  element.hidden = true;
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
