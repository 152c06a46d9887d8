/** A trunk that goes on to several lines. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
    <rect width="16" height="16" rx="3" />
    <path d="M3 4h10M8 4v8M8 8l4 4M8 8l-4 4" />
  </svg>
);
