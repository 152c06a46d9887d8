/** A URL without the slashes at its end, to which a path is added. */
export const trimUrl = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
