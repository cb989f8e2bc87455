/** The mark of berth: a quay, two posts, and water. */
export function Mark() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="3" fill="var(--accent)" />
      <path d="M3 10.5h10M5 10.5v-6M11 10.5v-4" stroke="var(--on-accent)" stroke-width="1.6" stroke-linecap="round" />
      <path
        d="M3 12.800c1.700 1 3.300 1 5 0s3.300-1 5 0"
        stroke="var(--on-accent)"
        stroke-width="1.200"
        stroke-linecap="round"
        fill="none"
        opacity=".6"
      />
    </svg>
  );
}
