export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

/** Reads XML as strictly as a carrier does, and throws for whatever is none. */
export function parseXml(xml: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>/, '');
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(body) || !body.isWellFormed())
    throw new Error('a character that XML has no place for');
  const token = /<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
  for (let at = 0; at < body.length; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(body);
    if (!match) throw new Error(`no XML at ${at}: ${body.slice(at, at + 60)}`);
    const [, closing, name, attributes, empty, text] = match;
    const parent = open.at(-1)!;
    if (text !== undefined) parent.text += decodeEntities(text);
    else if (closing) {
      if (open.pop()!.name !== name) throw new Error(`</${name}> closes <${parent.name}>`);
    } else {
      const pairs = [...attributes!.matchAll(/([A-Za-z]+)="([^"]*)"/g)].map(([, key, value]) => [
        key!,
        decodeEntities(value!),
      ]);
      const element = {
        name: name!,
        attributes: Object.fromEntries(pairs),
        children: [],
        text: '',
      };
      parent.children.push(element);
      if (!empty) open.push(element);
    }
  }
  if (open.length !== 1 || root.children.length !== 1 || root.text.trim())
    throw new Error(`not one whole element: ${xml}`);
  return root.children[0]!;
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replace(/&(#\d+|\w+)?(;?)/g, (_, entity: string | undefined, end: string) => {
    const character = entity?.startsWith('#')
      ? String.fromCodePoint(Number(entity.slice(1)))
      : NAMED[entity ?? ''];
    if (!character || !end) throw new Error(`no entity: ${text}`);
    return character;
  });
}
