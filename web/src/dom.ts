// Elements of the page. Text only ever goes in as text, so names from files cannot become markup.

export function element(tag: string, attributes: Record<string, string> = {}, text?: string): HTMLElement {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

export function button(text: string, act: () => void, label?: string): HTMLButtonElement {
  const e = element("button", {type: "button"}) as HTMLButtonElement;
  e.append(text);
  if (label !== undefined) {
    e.setAttribute("aria-label", label);
    e.title = label;
  }
  e.addEventListener("click", act);
  return e;
}

export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], {type}));
  const link = element("a", {href: address, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
