import { computed, signal } from "@preact/signals";

/** Where the viewer is. The whole state of a screen is in here, so that an address can be passed on. */
const address = signal(new URL(location.href));

export const path = computed(() => address.value.pathname);
export const query = computed(() => address.value.searchParams);

/** Opens an address of the UI. `replace` leaves no step to go back to: for what is typed letter by letter. */
export function go(href: string, { replace = false }: { replace?: boolean } = {}): void {
  const to = new URL(href, location.href);
  if (to.href === address.peek().href) return;
  if (replace) history.replaceState(history.state, "", to);
  else {
    // Going back leads to where the viewer was.
    history.replaceState({ scrolled: scrollY }, "");
    history.pushState(null, "", to);
  }
  hasMoved = true;
  const moved = to.pathname !== address.peek().pathname;
  address.value = to;
  if (moved) scrollTo(0, 0);
}

let hasMoved = false;

/** Whether the viewer has gone from one page to another: then the focus follows. */
export const wasOpened = () => hasMoved;

const settleMs = 2_000;

/** A page that is loading is not as high yet as it was. The viewer's own scrolling ends it. */
function scrollBack(to: number): void {
  const until = performance.now() + settleMs;
  const stop = new AbortController();
  for (const name of ["wheel", "touchstart", "keydown"])
    addEventListener(name, () => stop.abort(), { signal: stop.signal });
  const step = () => {
    if (stop.signal.aborted) return;
    scrollTo(0, to);
    if (Math.abs(scrollY - to) > 1 && performance.now() < until) requestAnimationFrame(step);
    else stop.abort();
  };
  step();
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
  history.scrollRestoration = "manual";
  addEventListener("popstate", ({ state }: PopStateEvent) => {
    hasMoved = true;
    address.value = new URL(location.href);
    scrollBack(Number((state as { scrolled?: number } | null)?.scrolled ?? 0));
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    event.preventDefault();
    go(link.href);
  });
}
