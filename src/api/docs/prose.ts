const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

const inline = (text: string): string =>
  escaped(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\[([^[\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>');

/** Paragraphs of a description as HTML: the Markdown that the contract's introduction uses. */
export const paragraphs = (markdown: string): string[] =>
  markdown
    .split(/\n\s*\n/)
    .filter((text) => text.trim())
    .map((text) => `<p>${inline(text.trim())}</p>`);
