/**
 * A text that is a URL of the web. A page may turn it into a link, and a library that fetches it
 * knows other schemes too: javascript:, data:, file:.
 */
export const isHttpUrl = (text: string): boolean =>
  /^https?:\/\/[^\p{Cc}]+$/iu.test(text) && URL.canParse(text);
