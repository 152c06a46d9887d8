/**
 * Whether a text is a URL of the web. Whoever shows it may make a link of it, and whoever fetches it
 * hands it to a library that knows other schemes too: javascript:, data:, file:.
 */
export const isHttpUrl = (text: string): boolean =>
  /^https?:\/\/[^\p{Cc}]+$/iu.test(text) && URL.canParse(text);
