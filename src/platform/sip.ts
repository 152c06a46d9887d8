/** True for a SIP address in place of a telephone number. */
export const isSip = (number: string): boolean => /^sips?:/i.test(number);
