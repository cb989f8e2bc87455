import { computed, signal } from "@preact/signals";

/** Where the viewer is. The whole state of a screen is in here, so that an address can be passed on. */
const address = signal(new URL(location.href));

export const path = computed(() => address.value.pathname);
export const query = computed(() => address.value.searchParams);

/** Opens an address of the UI. `replace` leaves no step to go back to: for what is typed letter by letter. */
export function go(href: string, { replace = false }: { replace?: boolean } = {}): void {
  const to = new URL(href, location.href);
  if (to.href === address.peek().href) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  const moved = to.pathname !== address.peek().pathname;
  address.value = to;
  if (moved) scrollTo(0, 0);
}

/** This address with other values in its query; an empty one goes away. */
export function withQuery(changes: Record<string, string | undefined>): string {
  const to = new URL(address.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") to.searchParams.delete(name);
    else to.searchParams.set(name, value);
  }
  return `${to.pathname}${to.search}`;
}

/** Follows the browser's buttons, and links of the UI without loading the page again. */
export function followLinks(): void {
  addEventListener("popstate", () => {
    address.value = new URL(location.href);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    event.preventDefault();
    go(link.href);
  });
}
