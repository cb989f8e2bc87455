const warnFrom = 0.8;
const badFrom = 0.92;

/** How full something is. */
export function Meter({ part, whole, label }: { part: number; whole: number; label: string }) {
  const share = whole > 0 ? Math.min(part / whole, 1) : 0;
  const tone = share >= badFrom ? " bad" : share >= warnFrom ? " warn" : "";
  return (
    <div
      class={`meter${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
    >
      <i style={{ width: `${share * 100}%` }} />
    </div>
  );
}
