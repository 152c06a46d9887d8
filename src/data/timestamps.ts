// Times of a record that a request writes: `user_updated_at` is its last change through the API,
// `updated_at` also counts changes by the service itself.

export const changedAt = (now: Date) => ({ user_updated_at: now, updated_at: now });
export const createdAt = (now: Date) => ({ ...changedAt(now), created_at: now });
export const deletedAt = (now: Date) => ({ ...changedAt(now), deleted_at: now });
