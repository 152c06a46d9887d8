// #region docs
import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
const authorization = `Basic ${btoa(`${TRUNKLINE_KEY}:${TRUNKLINE_SECRET}`)}`;
export const emptyApi = createApi({
  baseQuery: fetchBaseQuery({
    baseUrl: TRUNKLINE_URL,
    prepareHeaders: (headers) => headers.set('Authorization', authorization),
  }),
  endpoints: () => ({}),
});
// #endregion
