interface Tab {
  title: string;
  href: string;
}

/** Tabs are links: each has an address. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ title, href }) => (
        <a key={href} href={href} aria-current={href === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
