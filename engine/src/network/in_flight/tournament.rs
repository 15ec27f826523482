//! A tournament tree: finds the least of many ranks (D. E. Knuth, The Art of Computer Programming
//! 3, section 5.4.1). A changed rank plays one match for each level.

/// The rank of a contender. It has none while it is [`Rank::MAX`].
pub(super) type Rank = u128;

/// A complete binary tree of matches.
#[derive(Debug)]
pub(super) struct Tournament {
    /// The ranks that meet in each match. Match 1 is the last one; the winners of matches 2n and
    /// 2n + 1 meet in match n. Match 0 is not in use. The contenders meet in the second half.
    matches: Vec<[Rank; 2]>,
    least: Rank,
}

impl Tournament {
    /// A tree for at least so many contenders, none of which has a rank.
    pub(super) fn new(contenders: usize) -> Self {
        let matches = contenders.next_power_of_two().max(2);
        Tournament { matches: vec![[Rank::MAX; 2]; matches], least: Rank::MAX }
    }

    /// The most contenders.
    pub(super) fn contenders(&self) -> usize {
        self.matches.len()
    }

    /// The least rank.
    #[inline]
    pub(super) fn least(&self) -> Rank {
        self.least
    }

    /// A contender's rank becomes greater: it plays all its matches again.
    #[inline]
    pub(super) fn raise(&mut self, contender: usize, rank: Rank) {
        let (mut node, mut winner) = (self.matches.len() + contender, rank);
        while node > 1 {
            let side = node & 1;
            node /= 2;
            let ranks = &mut self.matches[node];
            ranks[side] = winner;
            winner = ranks[0].min(ranks[1]);
        }
        self.least = winner;
    }

    /// A contender's rank becomes less: it plays until it loses.
    #[inline]
    pub(super) fn lower(&mut self, contender: usize, rank: Rank) {
        let mut node = self.matches.len() + contender;
        while node > 1 {
            let side = node & 1;
            node /= 2;
            let ranks = &mut self.matches[node];
            ranks[side] = rank;
            if ranks[1 - side] < rank {
                return;
            }
        }
        self.least = rank;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_rank_wins(
            contenders in 1usize..20,
            changes in prop::collection::vec((0usize..20, prop_oneof![0u128..100, Just(Rank::MAX)]), 1..100),
        ) {
            let mut tree = Tournament::new(contenders);
            prop_assert!(tree.contenders() >= contenders);
            let mut ranks = vec![Rank::MAX; contenders];
            for (contender, rank) in changes {
                let contender = contender % contenders;
                match rank < ranks[contender] {
                    true => tree.lower(contender, rank),
                    false => tree.raise(contender, rank),
                }
                ranks[contender] = rank;
                prop_assert_eq!(Some(tree.least()), ranks.iter().min().copied());
            }
        }
    }
}
