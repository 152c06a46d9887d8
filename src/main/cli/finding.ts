/** A line of the doctor; `remedy` says what to do. */
export interface Finding {
  check: string;
  ok: boolean;
  finding: string;
  remedy?: string;
}

export const finding = (check: string, ok: boolean, text: string, remedy?: string): Finding => ({
  check,
  ok,
  finding: text,
  ...(!ok && remedy && { remedy }),
});
