import { isIPv6 } from 'node:net';

/**
 * The network that one customer has: an IPv4 address, or the first 56 bits of an IPv6 address,
 * because providers give each customer that many networks of 64 bits.
 */
export function toNetwork(ip: string): string {
  const mapped = /^::ffff:([\d.]{7,15})$/i.exec(ip)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right];
  const numbers = groups.slice(0, 4).map((group) => parseInt(group, 16));
  numbers[3]! &= 0xff00;
  return `${numbers.map((number) => number.toString(16)).join(':')}::/56`;
}
