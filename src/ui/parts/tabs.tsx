import { useEffect, useRef } from "preact/hooks";

interface Tab {
  title: string;
  href: string;
}

/** Tabs are links: each has an address. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  const box = useRef<HTMLElement>(null);
  // On a phone there may be more of them than fit.
  useEffect(() => box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [current]);
  return (
    <nav ref={box} class="tabs" aria-label={label}>
      {tabs.map(({ title, href }) => (
        <a key={href} href={href} aria-current={href === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
