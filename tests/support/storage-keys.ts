/** A key in the shape of those that uploads get; keys of rising numbers are in order. */
export const toStorageKey = (n: number): string =>
  `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
